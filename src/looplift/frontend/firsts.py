"""Loops whose first iteration is not like the others: it stands before the loop, and its tests are known in both.

h = None                                 stop = len(x)
for t in range(len(x)):                  assert 0 < stop
    if t == 0:                           t = 0
        h = x[t]                         h = x[t]
    else:                                for t in range(1, stop):
        h = f(h, x[t])                       h = f(h, x[t])

Tests are comparisons of the index with its first value, and whether a list that the loop appends to is empty.
A loop without iterations is left to Python.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Any

from looplift.base.data import dataclass
from looplift.base.syntax import fresh_copy, nodes_of
from looplift.frontend.known_tests import Known, Linear, folded, leaves_early, linear, of_index
from looplift.frontend.names import assigned_names, names_of

RESIZING = frozenset("append extend insert pop remove clear resize_ appendleft popleft".split())
_RESIZERS = frozenset("heappush heappop insort insort_left insort_right".split())
"""Methods, and functions of heapq and bisect, that change how long a list is."""
_BUILTINS = {function.__name__: function for function in (enumerate, len, min, range, reversed, zip)}
MAX_NODES = 600
"""Nodes of a body that is written twice."""


def with_firsts(
    statements: list[ast.stmt], values: Mapping[str, Any], arguments: Collection[str] = ()
) -> list[ast.stmt] | None:
    """The statements with first iterations before their loops; None where there is no such loop."""
    if any(name in arguments or values.get(name, own) is not own for name, own in _BUILTINS.items()):
        return None  # what is asked of these names is not asked of the statements that are made
    peeler = _Peeler(statements, values)
    made = peeler.block(fresh_copy(statements))
    if not peeler.count:
        return None
    return [ast.fix_missing_locations(statement) for statement in made]


@dataclass(frozen=True)
class _Steps:
    """How a loop goes on: ``before`` it, the ``index`` (if it has one of its own) from ``first`` on by ``step``."""

    before: list[ast.stmt]
    index: str
    first: Linear
    step: int
    start: ast.expr
    """The first index, and the range of all that follow."""
    rest: ast.expr
    some: ast.expr
    """Whether there is an iteration."""
    items: list[tuple[ast.expr, ast.expr]]
    """What is assigned at the beginning of each iteration."""


class _Peeler:
    def __init__(self, statements: list[ast.stmt], values: Mapping[str, Any]):
        self.values, self.count = values, 0
        self.statements = statements
        self.bound = {*assigned_names(statements)}
        self.taken = {*values, *self.bound, *names_of(statements).loads}

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in statements:
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                    setattr(statement, name, self.block(inner))
            peeled = self._peeled(statement, made) if isinstance(statement, ast.For) else None
            made += [statement] if peeled is None else peeled
        return made

    def _peeled(self, loop: ast.For, before: list[ast.stmt]) -> list[ast.stmt] | None:
        if loop.orelse or sum(len(nodes_of(one)) for one in loop.body) > MAX_NODES:
            return None
        changing = self._changing(loop.body)
        steps = self._steps(loop, changing)
        if steps is None:
            return None
        lists = _empty_before(before, loop.body)
        if _bound_in_expressions(loop.body) & {steps.index, *lists}:
            return None
        tests = {later: _either(of_index(steps.index, steps.first, steps.step, changing, later=later), lists, later)
                 for later in (False, True)}  # fmt: skip
        first, _ = folded(fresh_copy(loop.body), tests[False])
        rest, count = folded(fresh_copy(loop.body), tests[True])
        first = _until_continue(first)
        if not count or leaves_early(first) or any(not _appends(first, name) for name in lists):
            return None
        if any(isinstance(one, ast.Return) for statement in rest for one in nodes_of(statement)):
            return None
        self.count += 1
        target = ast.Name(steps.index, ast.Store())
        entry = [ast.Assign([target], steps.start), *self._assigned(steps)]
        loop.target, loop.iter, loop.body = fresh_copy(target), steps.rest, [*self._assigned(steps), *rest]
        made: list[ast.stmt] = [*steps.before, ast.Assert(steps.some, None), *entry, *first, loop]
        for statement in made[: len(steps.before) + 1 + len(entry)]:
            ast.copy_location(statement, loop)
        return made

    def _changing(self, body: list[ast.stmt]) -> set[str]:
        """Names that a body assigns, lists whose length it changes, and lengths that may be those of such lists."""
        arrays = {
            name for name, value in self.values.items() if hasattr(type(value), "ndim") and name not in self.bound
        }
        changed = _changed(body, arrays)
        if not changed:
            return {*assigned_names(body)}
        lengths = {f"len({name})" for name in {*self.values, *self.bound} - arrays}
        return {*assigned_names(body), *changed, *lengths}

    def _assigned(self, steps: _Steps) -> list[ast.stmt]:
        return [ast.Assign([fresh_copy(target)], fresh_copy(value)) for target, value in steps.items]

    # ------------------------------------------------------------ what a loop runs through

    def _steps(self, loop: ast.For, changing: set[str]) -> _Steps | None:
        target, iterable, down = loop.target, loop.iter, False
        if (inner := _argument(iterable, "reversed")) is not None and (bounds := _bounds(inner)) is not None:
            if bounds[2] < 0:
                return None
            iterable, down = inner, True
        if isinstance(target, ast.Name) and (bounds := _bounds(iterable)) is not None:
            return self._of_range(target.id, *bounds, down=down, changing=changing)
        index = None
        if (inner := _argument(iterable, "enumerate")) is not None and isinstance(target, ast.Tuple):
            if len(target.elts) != 2 or not isinstance(target.elts[0], ast.Name):
                return None
            index, target, iterable = target.elts[0].id, target.elts[1], inner
        sequences = _several(iterable)
        if sequences is None or not all(self._is_sequence(one, changing) for one in sequences):
            return None
        index = self._fresh("place") if index is None else index
        here = ast.Name(index, ast.Load())
        items: list[ast.expr] = [ast.Subscript(one, here, ast.Load()) for one in sequences]
        lengths: list[ast.expr] = [_call("len", fresh_copy(one)) for one in sequences]
        stop = lengths[0] if len(lengths) == 1 else _call("min", *lengths)
        found = self._of_range(index, ast.Constant(0), stop, 1, down=False, changing=changing)
        if found is None:
            return None
        zipped = isinstance(iterable, ast.Call)
        found.items.append((target, ast.Tuple(items, ast.Load()) if zipped else items[0]))
        return found

    def _of_range(
        self, index: str, start: ast.expr, stop: ast.expr, step: int, *, down: bool, changing: set[str]
    ) -> _Steps | None:
        """The steps of a range by 1 or -1; ``down``: read backwards."""
        if down:
            start, stop, step = _plus(stop, -1), _plus(start, -1), -1
        first = linear(start, changing)
        if index in changing or first is None:
            return None
        before: list[ast.stmt] = []
        end = stop
        if not isinstance(stop, ast.Constant):
            name = self._fresh("stop")
            before.append(ast.Assign([ast.Name(name, ast.Store())], stop))
            end = ast.Name(name, ast.Load())
        order = ast.Lt() if step > 0 else ast.Gt()
        some = ast.Compare(fresh_copy(start), [order], [end])
        by = [] if step > 0 else [ast.Constant(-1)]
        rest = _call("range", _plus(fresh_copy(start), step), fresh_copy(end), *by)
        return _Steps(before, index, first, step, start, rest, some, [])

    def _fresh(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _is_sequence(self, node: ast.expr, changing: set[str]) -> bool:
        """Whether an expression surely is a tensor, an array, a list or a tuple, the same in all iterations."""
        if any(isinstance(one, ast.Name) and one.id in changing for one in nodes_of(node)):
            return False
        return _is_row(self._sample(node, 3))

    def _sample(self, node: ast.expr | None, depth: int) -> Any:
        """A value of the kind that an expression has."""
        match node:
            case ast.Name(id=name) if name in self.values and name not in self.bound:
                return self.values[name]
            case ast.Name(id=name) if depth:
                return self._item(self._sample(self._bound_to_item_of(name), depth - 1))
            case ast.Subscript(value=inner, slice=ast.Name() | ast.Constant(value=int())) if depth:
                return self._item(self._sample(inner, depth - 1))
        return None

    def _item(self, sequence: Any) -> Any:
        if not _is_row(sequence) or not getattr(sequence, "ndim", 1) or not len(sequence):
            return None
        alike = not isinstance(sequence, list | tuple) or all(map(_is_row, sequence))
        return sequence[0] if alike else None

    def _bound_to_item_of(self, name: str) -> ast.expr | None:
        """What a name is an item of, in all that is assigned to it: by a loop over it or as one at a place."""
        found: list[ast.expr | None] = []
        for node in (child for statement in self.statements for child in nodes_of(statement)):
            match node:
                case ast.For(target=ast.Name(id=one), iter=ast.Name() as source) if one == name:
                    found.append(source)
                case ast.Assign(targets=[ast.Name(id=one)], value=ast.Subscript(value=ast.Name() as source)) if (
                    one == name
                ):
                    found.append(source)
                case ast.Name(id=one, ctx=ast.Store()) if one == name:
                    found.append(None)
        named = [source for source in found if source is not None]
        return named[0] if len(named) == 1 and len(found) == 2 else None


def _is_row(value: Any) -> bool:
    return isinstance(value, list | tuple) or (hasattr(type(value), "ndim") and hasattr(type(value), "dtype"))


def _either(of_index: Known, lists: set[str], later: bool) -> Known:
    """What is known of the index, and of lists that are empty before the first iteration and in no other."""

    def known(node: ast.expr) -> bool | None:
        match node:
            case ast.Name(id=name) if name in lists:
                return later
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]) if name in lists:
                return later
            case ast.Compare(left=ast.Call() as length, ops=[op], comparators=[ast.Constant(value=0)]) if (
                holds := known(length)
            ) is not None:
                return {ast.Eq: not holds, ast.NotEq: holds, ast.Gt: holds, ast.LtE: not holds}.get(type(op))
        return of_index(node)

    return known


def _bounds(node: ast.expr) -> tuple[ast.expr, ast.expr, int] | None:
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]):
            return ast.Constant(0), stop, 1
        case ast.Call(func=ast.Name(id="range"), args=[start, stop], keywords=[]):
            return start, stop, 1
        case ast.Call(func=ast.Name(id="range"), args=[start, stop, step], keywords=[]) if ast.unparse(step) in (
            "1",
            "-1",
        ):
            return start, stop, int(ast.unparse(step))
    return None


def _argument(node: ast.expr, function: str) -> ast.expr | None:
    match node:
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name == function:
            return inner
    return None


def _several(node: ast.expr) -> list[ast.expr] | None:
    match node:
        case ast.Name() | ast.Subscript(value=ast.Name()):
            return [node]
        case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as inners, keywords=[]):
            return inners if all(isinstance(one, ast.Name | ast.Subscript) for one in inners) else None
    return None


def _call(function: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


def _plus(node: ast.expr, number: int) -> ast.expr:
    match node:
        case ast.Constant(value=int(known)):
            return ast.Constant(known + number)
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=int(known))) if number + 0 < 0:
            return ast.BinOp(left, ast.Sub(), ast.Constant(known - number))
    return ast.BinOp(node, ast.Add() if number > 0 else ast.Sub(), ast.Constant(abs(number)))


def _until_continue(statements: list[ast.stmt]) -> list[ast.stmt]:
    places = [place for place, statement in enumerate(statements) if isinstance(statement, ast.Continue)]
    return statements[: places[0]] if places else statements


# ---------------------------------------------------------------- lists that are empty at first


def _changed(statements: list[ast.stmt], arrays: set[str]) -> set[str]:
    """The text of what may get longer or shorter; arrays do not where parts of them are stored."""
    nodes = [node for statement in statements for node in nodes_of(statement)]
    found = ((node, ast.unparse(one)) for node in nodes if (one := _resized(node)) is not None)
    return {text for node, text in found if not (isinstance(node, ast.Subscript) and text in arrays)}


def _resized(node: ast.AST) -> ast.expr | None:
    """What a method or a function is called on, or a part is deleted of or put into, that may change its length."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in RESIZING:
            return owner
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[owner, *_]) if name in _RESIZERS:
            return owner
        case ast.Subscript(value=owner, ctx=ast.Del()):
            return owner
        case ast.Subscript(value=owner, slice=ast.Slice(), ctx=ast.Store()):
            return owner
    return None


def _empty_before(before: list[ast.stmt], body: list[ast.stmt]) -> set[str]:
    """Lists that are empty before a loop and that it only appends to, asked for their items before it does."""
    found: set[str] = set()
    for statement in before:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=[])):
                found.add(name)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=made)) if len(made) == len(
                targets
            ) and all(isinstance(one, ast.List) and not one.elts for one in made):
                found |= {one.id for one in targets if isinstance(one, ast.Name)}
            case _:
                found -= {node.id for node in nodes_of(statement) if isinstance(node, ast.Name)}
    return {name for name in found if _only_grows(name, body) and _asked_first(name, body)}


def _is_append(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=one), attr="append"), args=[_])):
            return one == name
    return False


def _only_grows(name: str, body: list[ast.stmt]) -> bool:
    """Whether a list is appended to, asked for its items, its length and its truth, and nothing else."""
    nodes = [node for statement in body for node in nodes_of(statement)]
    mentioned = sum(isinstance(node, ast.Name) and node.id == name for node in nodes)
    allowed = 0
    for node in nodes:
        match node:
            case ast.Expr() if _is_append(node, name):
                allowed += 1
            case ast.Subscript(value=ast.Name(id=one), ctx=ast.Load()) if one == name:
                allowed += 1
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=one)]) if one == name:
                allowed += 1
            case ast.If(test=test) | ast.IfExp(test=test):
                allowed += sum(isinstance(part, ast.Name) and part.id == name for part in _parts(test))
    return 0 < mentioned == allowed


def _parts(test: ast.expr) -> list[ast.expr]:
    """The operands of ``and``, ``or`` and ``not``."""
    match test:
        case ast.BoolOp(values=values):
            return [part for value in values for part in _parts(value)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _parts(operand)
    return [test]


def _asked_first(name: str, body: list[ast.stmt]) -> bool:
    """Whether it is asked how long the list is, last by the statement that appends, before it does."""
    for place, statement in enumerate(body):
        if not any(_is_append(node, name) for node in nodes_of(statement)):
            continue
        behind: list[ast.AST] = list(body[place + 1 :])
        if isinstance(statement, ast.If):
            behind += [*statement.body, *statement.orelse]
        elif not _is_append(statement, name):
            return False
        asked = any(_asks(node, name) for one in body for node in nodes_of(one))
        return asked and not any(_asks(node, name) for one in behind for node in nodes_of(one))
    return False


def _asks(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=one)]):
            return one == name
        case ast.If(test=test) | ast.IfExp(test=test):
            return any(isinstance(part, ast.Name) and part.id == name for part in _parts(test))
    return False


def _bound_in_expressions(body: list[ast.stmt]) -> set[str]:
    """Names that comprehensions and ``:=`` bind."""
    nodes = [node for statement in body for node in nodes_of(statement)]
    targets = [node.target for node in nodes if isinstance(node, ast.comprehension | ast.NamedExpr)]
    return {one.id for target in targets for one in nodes_of(target) if isinstance(one, ast.Name)}


def _appends(statements: list[ast.stmt], name: str) -> bool:
    return any(_is_append(statement, name) for statement in statements)
