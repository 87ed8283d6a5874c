"""Statements in, the names that may stand for a tensor or an array, or for something that holds one, out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from looplift.base.syntax import children_of, nodes_of
from looplift.frontend.bindings import NUMBER_CHECKS, Bindings

PLAIN_METHODS = ("item", "tolist", "size", "dim", "numel", "index", "count")
PLAIN_CALLS = ("int", "float", "bool", "len", "str", "repr", "range", "isinstance", "ord", "chr", *NUMBER_CHECKS)
PLAIN_ATTRIBUTES = ("shape", "ndim", "dtype", "device")
PUTS = ("append", "extend", "insert", "add", "appendleft", "extendleft", "setdefault", "update", "discard", "remove")


class Taints(set[str]):
    """Names that may hold arrays; ``makes`` says of a called expression whether it is a function that makes one."""

    def __init__(self, names: Iterable[str], makes: Callable[[ast.expr], bool]):
        super().__init__(names)
        self.makes = makes

    def touch(self, node: ast.AST | None) -> bool:
        """Whether an expression may be, or hold, an array."""
        match node:
            case None | ast.Constant():
                return False
            case ast.Name(id=name):
                return name in self
            case ast.Attribute(attr=name) if name in PLAIN_ATTRIBUTES:
                return False
            case ast.Call(func=ast.Attribute(attr=name)) if name in PLAIN_METHODS and not self.makes(node.func):
                return False
            case ast.Call(func=ast.Name(id=name)) if name in PLAIN_CALLS:
                return False
            case ast.Call(func=function) if self.makes(function):
                return True
        return any(map(self.touch, children_of(node)))

    def computes(self, statement: ast.stmt) -> bool:
        """Whether something is computed with arrays, not only read."""
        operators = (ast.BinOp, ast.Compare, ast.Call)
        return any(isinstance(node, operators) and self.touch(node) for node in nodes_of(statement))


def root_of(node: ast.AST) -> str:
    """The name that a chain of subscripts, attributes and calls of methods begins with."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.Subscript(value=inner) | ast.Attribute(value=inner) | ast.Starred(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner)):
                node = inner
            case _:
                return ""
    return node.id


def tainted_by(
    statements: list[ast.stmt], arrays: set[str], bindings: Bindings, makes: Callable[[ast.expr], bool]
) -> Taints:
    """``arrays``: names that hold some at the start.

    Once one is put into a container, any name may lead to it but those of numbers: containers have several names.
    """
    nodes = [node for statement in statements for node in nodes_of(statement)]
    every = {node.id for node in nodes if isinstance(node, ast.Name)}
    every -= bindings.numbers | bindings.lists.keys()
    found = Taints(arrays, makes)
    before = -1
    while before != len(found):
        before = len(found)
        for node in nodes:
            if _puts(node, found):
                found |= every
            found |= _bound(node, found)
    return found


def _puts(node: ast.AST, found: Taints) -> bool:
    """Whether a node puts an array into a container, or gives a function both."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return any(map(_has_place, targets)) and found.touch(value)
        case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source):
            return _has_place(target) and found.touch(source)
        case ast.AugAssign(value=value):
            return found.touch(value)
        case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords) if name in PUTS:
            return any(map(found.touch, (*args, *keywords)))
        case ast.Call(func=function, args=args) if not found.makes(function) and len(args) > 1:
            return not isinstance(function, ast.Name) and any(map(found.touch, args))
    return False


def _has_place(target: ast.expr) -> bool:
    """Whether something is put into a container."""
    return any(isinstance(one, ast.Subscript) for one in nodes_of(target))


def _bound(node: ast.AST, found: Taints) -> set[str]:
    match node:
        case ast.Assign(targets=targets, value=value) if found.touch(value):
            places: list[ast.expr] = targets
        case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value) if found.touch(
            value
        ):
            places = [target]
        case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source) if found.touch(source):
            places = [target]
        case ast.Lambda(args=arguments) if found:
            return {one.arg for one in nodes_of(arguments) if isinstance(one, ast.arg)}
        case _:
            return set()
    return {one.id for place in places for one in nodes_of(place) if isinstance(one, ast.Name)}
