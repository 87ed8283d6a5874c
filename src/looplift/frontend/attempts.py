"""A ``try`` around operations whose exceptions can be told beforehand in, the ``if`` that it amounts to out.

try: v = a / b                   _left, _right = a, b
except ZeroDivisionError: v = 0  if <fails: _left / _right>: v = 0
                                 else: v = _left / _right

Divisions of Python's numbers, functions of ``math``, subscripts and keys are asked before they are evaluated. Whatever
else raises in the ``try`` is no concern of it: then a requirement fails, and the loop itself runs. What fails under an
``if`` of the ``try`` sets a flag, under which the handler stands in front of what would follow.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from looplift.base.syntax import Fails, fresh_copy, nodes_of

SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Pass, ast.Continue, ast.Break)
PURE = frozenset("abs float int len max min round sum item append extend sqrt exp log log2 log10 get tolist".split())
"""Functions and methods whose calls may be evaluated before or after the operands of what may fail."""
DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)
RAISING = (ast.Pow, ast.LShift, ast.RShift, ast.MatMult)
"""Other operators that raise of some numbers or shapes."""
CONDITIONAL = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Handlers = list[tuple[list[str], list[ast.stmt]]]
"""The names of the exceptions that handlers take, and what each does."""


class _TooComplex(Exception):
    pass


def as_branches(node: ast.Try, counter: Iterator[int]) -> list[ast.stmt] | None:
    """The statements for a ``try``; None where it is none of these."""
    handlers = [(_caught(handler), _handling(handler)) for handler in node.handlers]
    if node.finalbody or not handlers or any(names is None or body is None for names, body in handlers):
        return None
    if not _is_plain(node.body) or any(_calls(handler.body) - _KNOWN for handler in node.handlers):
        return None
    asked: list[list[ast.stmt]] = []
    try:
        made = _tried(node.body, node.orelse, handlers, counter, asked)  # type: ignore[arg-type]
    except _TooComplex:
        return None
    for handler, (_, body) in zip(node.handlers, handlers, strict=True):
        if all(body is not one for one in asked) and _changes_something(handler.body):
            return None
    return [ast.fix_missing_locations(ast.copy_location(statement, node)) for statement in made]


def _is_plain(body: list[ast.stmt]) -> bool:
    """Whether statements are simple ones, and branches of such."""
    return all(
        _is_plain(part.body + part.orelse) if isinstance(part, ast.If) else isinstance(part, SIMPLE) for part in body
    )


def _handling(handler: ast.ExceptHandler) -> list[ast.stmt] | None:
    """What a handler does, where it does not ask for the exception: the name of that is not bound behind it."""
    if handler.name is None:
        return handler.body
    if any(isinstance(node, ast.Name) and node.id == handler.name for part in handler.body for node in nodes_of(part)):
        return None
    bound = ast.Assign([ast.Name(handler.name, ast.Store())], ast.Constant(None))
    return [bound, ast.Delete([ast.Name(handler.name, ast.Del())]), *handler.body]


_KNOWN = PURE | {"print"}


def _calls(body: list[ast.stmt]) -> set[str]:
    """The names of what is called; a handler also runs for exceptions that are not asked for, when the loop itself
    does, so that nothing in it may go unseen."""
    return {_called(node) for part in body for node in nodes_of(part) if isinstance(node, ast.Call)}


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _changes_something(body: list[ast.stmt]) -> bool:
    """Whether statements do more than to bind names and to leave."""
    plain = all(isinstance(part, SIMPLE) for part in body)
    stores = (node for part in body for node in nodes_of(part) if isinstance(node, ast.Subscript | ast.Attribute))
    return not plain or bool(_calls(body)) or any(isinstance(node.ctx, ast.Store) for node in stores)


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
    counter: Iterator[int],
    asked: list[list[ast.stmt]],
) -> list[ast.stmt]:
    """The statements of a ``try``, each behind the tests of what may fail in it; notes which handlers these lead to."""
    if not body:
        return behind
    operations = _Operations(handlers, counter)
    first, rest = fresh_copy(body[0]), body[1:]
    if (parts := operations.step_by_step(first)) is not None:
        return _tried([*parts, *rest], behind, handlers, counter, asked)
    if isinstance(first, ast.If):
        test = operations.expression(fresh_copy(first.test))
        first.test = test if operations.found else first.test
        chain = _branch(first, _tried(rest, behind, handlers, counter, asked), handlers, counter, asked)
    else:
        made = operations.visit(first)
        chain = [made if operations.found else body[0], *_tried(rest, behind, handlers, counter, asked)]
    if operations.found and operations.calls:
        raise _TooComplex  # what is called may be noticed, and would come after the operands of what may fail
    if operations.found:
        chain = [*operations.pending, *chain]
    for held, test, handler in reversed(operations.found):
        asked.append(handler)
        chain = [*held, ast.If(test, fresh_copy(handler), chain)]
    return [*_read_before(first), *chain] if operations.found else chain


def _read_before(node: ast.stmt) -> list[ast.stmt]:
    """What an update of an element reads before its value is evaluated is there, else the loop itself runs."""
    if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Subscript):
        return []
    if any(isinstance(part, ast.Call | ast.NamedExpr | ast.Slice) for part in nodes_of(node.target)):
        raise _TooComplex
    test = Fails()
    test.operation, test.function, test.exceptions = "subscript", None, ["LookupError"]
    test.operands = [fresh_copy(node.target.value), fresh_copy(node.target.slice)]
    return [ast.Assert(ast.UnaryOp(ast.Not(), test), None)]


def _branch(
    node: ast.If, rest: list[ast.stmt], handlers: Handlers, counter: Iterator[int], asked: list[list[ast.stmt]]
) -> list[ast.stmt]:
    """An ``if`` of a ``try``, and what comes behind it, which is skipped where a branch fails."""
    if not rest:
        node.body = _tried(node.body, [], handlers, counter, asked)
        node.orelse = _tried(node.orelse, [], handlers, counter, asked)
        return [node]
    flags = [f"_failed_{next(counter)}" for _ in handlers]
    marks = [
        (names, [ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(True))])
        for (names, _), flag in zip(handlers, flags, strict=True)
    ]
    marked: list[list[ast.stmt]] = []
    node.body = _tried(node.body, [], marks, counter, marked)  # type: ignore[arg-type]
    node.orelse = _tried(node.orelse, [], marks, counter, marked)  # type: ignore[arg-type]
    before: list[ast.stmt] = []
    behind: list[ast.stmt] = rest
    for flag, (_, handler), (_, mark) in zip(flags, handlers, marks, strict=True):
        if any(mark is one for one in marked):
            asked.append(handler)
            before.append(ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(False)))
            behind = [ast.If(ast.Name(flag, ast.Load()), fresh_copy(handler), behind)]
    return [*before, node, *behind]


class _Operations(ast.NodeTransformer):
    """The operations of a statement that may fail, in the order of their evaluation, with names for their operands."""

    def __init__(self, handlers: Handlers, counter: Iterator[int]):
        self.handlers = handlers
        self.counter = counter
        self.found: list[tuple[list[ast.stmt], Fails, list[ast.stmt]]] = []
        self.calls = False
        """Whether something is called or bound, which may be noticed."""
        self.pending: list[ast.stmt] = []
        """Statements for what may raise, to stand before the next operation that is asked."""
        self.passed = 0
        """How many operations came before that may raise what no handler takes."""
        self.entered = [0]
        """How many of them when the operation at hand, and those around it, began."""

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, CONDITIONAL):
            if any(self._may_fail(part) for part in nodes_of(node)):
                raise _TooComplex
            for part in nodes_of(node) if not isinstance(node, ast.Lambda) else ():
                self._note(part)
            return node
        self.entered.append(self.passed)
        try:
            return super().visit(node)
        finally:
            self.entered.pop()

    def _note(self, node: ast.AST) -> None:
        """An operation is passed that no handler takes."""
        match node:
            case ast.BinOp(op=op):
                self.passed += isinstance(op, (*DIVISIONS, *RAISING))
            case ast.Subscript(ctx=ast.Load(), slice=index):
                self.passed += not isinstance(index, ast.Slice)
            case ast.Call():
                self.passed += _called(node) not in ("abs", "len", "float")
                self.calls = self.calls or _called(node) not in PURE
            case ast.NamedExpr():
                self.calls = True

    def expression(self, node: ast.expr) -> ast.expr:
        found = self.visit(node)
        assert isinstance(found, ast.expr)
        return found

    def step_by_step(self, node: ast.stmt) -> list[ast.stmt] | None:
        """The statements for one with a choice in front that may fail in one of its sides; None of any other."""
        match node:
            case ast.If(test=choice):
                field = "test"
            case ast.Assign(value=choice) | ast.Return(value=ast.expr() as choice):
                field = "value"
            case _:
                return None
        if not isinstance(choice, ast.BoolOp | ast.IfExp) or not any(map(self._may_fail, nodes_of(choice))):
            return None
        name = f"_choice_{next(self.counter)}"
        bind = lambda value: ast.Assign([ast.Name(name, ast.Store())], value)  # noqa: E731
        setattr(node, field, ast.Name(name, ast.Load()))
        if isinstance(choice, ast.IfExp):
            return [ast.If(choice.test, [bind(choice.body)], [bind(choice.orelse)]), node]
        first, *others = choice.values
        goes_on: ast.expr = ast.Name(name, ast.Load())
        if isinstance(choice.op, ast.Or):
            goes_on = ast.UnaryOp(ast.Not(), goes_on)
        return [bind(first), *(ast.If(fresh_copy(goes_on), [bind(value)], []) for value in others), node]

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

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if any(self._may_fail(part) for later in node.comparators[1:] for part in nodes_of(later)):
            raise _TooComplex  # it is evaluated only where the comparisons before it hold
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, RAISING):
            return self._named(node, self.pending)
        if not isinstance(node.op, DIVISIONS) or not (handler := self._handler("division")):
            self._note(node)
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
            self._note(node)
            return node
        if any(isinstance(part, ast.Slice | ast.Starred) for part in nodes_of(node.slice)):
            self._note(node)
            return node
        node.value, node.slice = self._held("subscript", None, [node.value, node.slice], handler)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        is_asked = _called(node) in ("log", "log2", "log10", "sqrt") and len(node.args) == 1
        if is_asked and (handler := self._handler("function")):
            node.args = self._held("function", node.func, node.args, handler)
        else:
            self._note(node)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        self.generic_visit(node)
        self._note(node)
        return node

    def _named(self, value: ast.expr, held: list[ast.stmt]) -> ast.expr:
        name = f"_operand_{next(self.counter)}"
        held.append(ast.Assign([ast.Name(name, ast.Store())], value))
        return ast.Name(name, ast.Load())

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
        held, self.pending = self.pending, []
        names: list[ast.expr] = []
        for operand in operands:
            if isinstance(operand, ast.Name | ast.Constant):
                names.append(operand)
                continue
            names.append(self._named(operand, held))
        test = Fails()
        test.operation, test.function, test.exceptions = operation, function, handler[0]
        test.operands = [fresh_copy(name) for name in names]
        self.found.append((held, test, handler[1]))
        self.passed = self.entered[-1]  # what its operands may raise comes in its turn
        return names
