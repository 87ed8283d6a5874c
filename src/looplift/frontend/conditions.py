"""Statements in; the same, with what stands where only a number or its truth counts rewritten, out."""

from __future__ import annotations

import ast
from typing import Any

CONVERSIONS = ("int", "float", "bool")
CONSUMERS = frozenset("all any dict frozenset list max min set sorted sum tuple".split())
CONSUMING_METHODS = frozenset("join extend update".split())


def converted(node: ast.AST) -> tuple[str, ast.expr] | None:
    """The type to which a call converts, "item" for that of the dtype, and the expression that it makes a number."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[one], keywords=[]) if name in CONVERSIONS:
            return name, one
        case ast.Call(func=ast.Attribute(value=one, attr="item"), args=[], keywords=[]):
            return "item", one
    return None


class Conditions(ast.NodeTransformer):
    """Visits conditions by ``condition`` and calls by ``call``; what may run later, when names have changed, stays."""

    def __init__(self) -> None:
        self.consumed: set[int] = set()

    def condition(self, node: ast.expr) -> ast.expr:
        """A part of a condition, of which only the truth matters."""
        return self.visit(node)

    def call(self, node: ast.Call) -> ast.AST | None:
        """What a call becomes; None where its parts are visited."""
        raise NotImplementedError

    def is_builtin(self, name: str) -> bool:
        raise NotImplementedError

    def comprehension(self, node: Any) -> ast.AST:
        return self.generic_visit(node)

    # ------------------------------------------------------------ conditions

    def truth(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.BoolOp(values=values):
                node.values = [self.truth(one) for one in values]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                node.operand = self.truth(operand)
            case _:
                return self.condition(node)
        return node

    def tested(self, node: Any) -> ast.AST:
        test = self.truth(node.test)
        node.test = ast.copy_location(ast.Constant(True), test)
        node = self.generic_visit(node)
        node.test = test
        return node

    visit_If = visit_While = visit_IfExp = tested

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        return self.truth(node) if isinstance(node.op, ast.Not) else self.generic_visit(node)

    # ------------------------------------------------------------ what runs at once, and what may run later

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[ast.GeneratorExp() as one, *_]) if name in CONSUMERS:
                if self.is_builtin(name):
                    self.consumed.add(id(one))
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.GeneratorExp() as one]) if name in CONSUMING_METHODS:
                self.consumed.add(id(one))
        found = self.call(node)
        return self.generic_visit(node) if found is None else found

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self.comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self.comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self.comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self.comprehension(node) if id(node) in self.consumed else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node
