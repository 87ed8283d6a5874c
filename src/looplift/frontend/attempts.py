"""A ``try`` around operations whose exceptions can be told beforehand in, the ``if`` that it amounts to out.

try: v = a / b                   _left, _right = a, b
except ZeroDivisionError: v = 0  if <fails: _left / _right>: v = 0
                                 else: v = _left / _right

Divisions of Python's numbers, functions of ``math``, subscripts and keys are asked before they are evaluated. Whatever
else raises in the ``try`` is no concern of it: then a requirement fails, and the loop itself runs.
"""

from __future__ import annotations

import ast
import builtins
import itertools

from looplift.base.syntax import Fails, fresh_copy, nodes_of

SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Pass, ast.Continue, ast.Break)
PURE = frozenset("abs float int len max min round sum item append extend sqrt exp log log2 log10 get tolist".split())
"""Functions and methods whose calls may be evaluated before or after the operands of what may fail."""
DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)
CONDITIONAL = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _TooComplex(Exception):
    pass


def as_branches(node: ast.Try, counter: itertools.count) -> list[ast.stmt] | None:
    """The statements for a ``try``; None where it is none of these."""
    if node.finalbody or not node.handlers or any(handler.name is not None for handler in node.handlers):
        return None
    handlers = [(_caught(handler), handler.body) for handler in node.handlers]
    if any(names is None for names, _ in handlers) or not all(isinstance(part, SIMPLE) for part in node.body):
        return None
    if any(_calls(body) - _KNOWN for _, body in handlers):
        return None
    asked: list[list[ast.stmt]] = []
    try:
        made = _tried(node.body, node.orelse, handlers, counter, asked)  # type: ignore[arg-type]
    except _TooComplex:
        return None
    unseen = [body for _, body in handlers if all(body is not one for one in asked)]
    if any(map(_changes_something, unseen)):
        return None
    return [ast.fix_missing_locations(ast.copy_location(statement, node)) for statement in made]


_KNOWN = PURE | {"print"}


def _calls(body: list[ast.stmt]) -> set[str]:
    """The names of what is called; a handler also runs for exceptions that are not asked for, when the loop itself
    does, so that nothing in it may go unseen."""
    functions = [node.func for part in body for node in nodes_of(part) if isinstance(node, ast.Call)]
    return {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in functions}


def _changes_something(body: list[ast.stmt]) -> bool:
    """Whether statements do more than to bind names and to leave."""
    plain = all(isinstance(part, SIMPLE) for part in body)
    stores = (node for part in body for node in nodes_of(part) if isinstance(node, ast.Subscript | ast.Attribute))
    return not plain or bool(_calls(body)) or any(isinstance(node.ctx, ast.Store) for node in stores)


Handlers = list[tuple[list[str], list[ast.stmt]]]


def _caught(handler: ast.ExceptHandler) -> list[str] | None:
    """The names of the exceptions that a handler takes."""
    match handler.type:
        case None:
            return ["BaseException"]
        case ast.Name(id=name):
            names = [name]
        case ast.Tuple(elts=items) if all(isinstance(item, ast.Name) for item in items):
            names = [item.id for item in items if isinstance(item, ast.Name)]
        case _:
            return None
    found = [getattr(builtins, name, None) for name in names]
    return names if all(isinstance(one, type) and issubclass(one, BaseException) for one in found) else None


def _tried(
    body: list[ast.stmt],
    behind: list[ast.stmt],
    handlers: Handlers,
    counter: itertools.count,
    asked: list[list[ast.stmt]],
) -> list[ast.stmt]:
    """The statements of a ``try``, each behind the tests of what may fail in it; notes which handlers these lead to."""
    if not body:
        return behind
    operations = _Operations(handlers, counter)
    first = operations.visit(fresh_copy(body[0]))
    if operations.found and operations.calls:
        raise _TooComplex  # what is called may be noticed, and would come after the operands of what may fail
    chain = [first, *_tried(body[1:], behind, handlers, counter, asked)]
    for held, test, handler in reversed(operations.found):
        asked.append(handler)
        chain = [*held, ast.If(test, fresh_copy(handler), chain)]
    return chain


class _Operations(ast.NodeTransformer):
    """The operations of a statement that may fail, in the order of their evaluation, with names for their operands."""

    def __init__(self, handlers: Handlers, counter: itertools.count):
        self.handlers = handlers
        self.counter = counter
        self.found: list[tuple[list[ast.stmt], Fails, list[ast.stmt]]] = []
        self.calls = False
        self.passed = 0
        """How many operations came before that may raise what no handler takes."""
        self.entered = [0]
        """How many of them when the operation at hand, and those around it, began."""

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, CONDITIONAL):
            if any(self._may_fail(part) for part in nodes_of(node)):
                raise _TooComplex
            return node
        self.entered.append(self.passed)
        try:
            return super().visit(node)
        finally:
            self.entered.pop()

    def _may_fail(self, node: ast.AST) -> bool:
        match node:
            case ast.BinOp(op=op) | ast.AugAssign(op=op):
                return isinstance(op, DIVISIONS) and self._handler("division") is not None
            case ast.Subscript(ctx=ast.Load()):
                return self._handler("subscript") is not None
            case ast.Call():
                return self._handler("function") is not None
        return False

    def _handler(self, operation: str) -> tuple[list[str], list[ast.stmt]] | None:
        """The first handler that takes what an operation may raise."""
        raised = {"division": [ZeroDivisionError], "function": [ValueError], "subscript": [KeyError, IndexError]}
        for names, body in self.handlers:
            kinds = tuple(getattr(builtins, name) for name in names)
            if any(issubclass(one, kinds) for one in raised[operation]):
                return names, body
        return None

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, DIVISIONS) or not (handler := self._handler("division")):
            self.passed += isinstance(node.op, DIVISIONS)
            return node
        node.left, node.right = self._held("division", None, [node.left, node.right], handler)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        node.value = self.visit(node.value)  # type: ignore[assignment]
        if not isinstance(node.op, DIVISIONS) or not (handler := self._handler("division")):
            return node
        if not isinstance(node.target, ast.Name):
            raise _TooComplex
        before = ast.Name(node.target.id, ast.Load())
        _, node.value = self._held("division", None, [before, node.value], handler)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        node.value = self.visit(node.value)  # type: ignore[assignment]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or not (handler := self._handler("subscript")):
            self.passed += isinstance(node.ctx, ast.Load)
            return node
        if any(isinstance(part, ast.Slice | ast.Starred) for part in nodes_of(node.slice)):
            return node
        node.value, node.slice = self._held("subscript", None, [node.value, node.slice], handler)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if (handler := self._handler("function")) and name in ("log", "log2", "log10", "sqrt") and len(node.args) == 1:
            node.args = self._held("function", node.func, node.args, handler)
        else:
            self.passed += name not in ("abs", "len", "float")
        self.calls = self.calls or name not in PURE
        return node

    def _held(
        self,
        operation: str,
        function: ast.expr | None,
        operands: list[ast.expr],
        handler: tuple[list[str], list[ast.stmt]],
    ) -> list[ast.expr]:
        """Names for operands, which are bound before the operation is tested."""
        if self.entered[-1]:
            raise _TooComplex  # what raises before that would come after its test
        held: list[ast.stmt] = []
        names: list[ast.expr] = []
        for operand in operands:
            if isinstance(operand, ast.Name | ast.Constant):
                names.append(operand)
                continue
            name = f"_operand_{next(self.counter)}"
            held.append(ast.Assign([ast.Name(name, ast.Store())], operand))
            names.append(ast.Name(name, ast.Load()))
        test = Fails()
        test.operation, test.function, test.exceptions = operation, function, handler[0]
        test.operands = [fresh_copy(name) for name in names]
        self.found.append((held, test, handler[1]))
        self.passed = self.entered[-1]  # what its operands may raise comes in its turn
        return names
