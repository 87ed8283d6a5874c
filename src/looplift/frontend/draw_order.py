"""A loop that draws random numbers, also in loops inside of it, in; its draws in order, and what they take, out.

for row in x:                            [(torch.randn(3), rows), (torch.randn(3), rows and steps, where t > 0)]
    h = torch.randn(3)
    for t in range(steps):
        h = h + (torch.randn(3) if t > 0 else 0)

A draw stands where every iteration gets to, or where it is known which do: under a test of what the loop does not make.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from looplift.base.data import dataclass
from looplift.base.syntax import children_of, nodes_of
from looplift.frontend.names import assigned_names, names_of
from looplift.frontend.simple import written_bases
from looplift.frontend.taints import root_of

ARGUMENTS = (
    ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.operator,
    ast.unaryop, ast.expr_context, ast.keyword, ast.Slice,
)  # fmt: skip
TESTS = (*ARGUMENTS, ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop)
ABOUT = frozenset(("shape", "ndim", "dtype", "device"))
"""Attributes that tell nothing of what is in a tensor."""
PURE = frozenset(("len", "range", "enumerate", "zip", "reversed", "int", "float", "min", "max"))
ITERATORS = frozenset(("enumerate", "zip", "reversed"))
EXITS = (ast.Break, ast.Return, ast.Yield, ast.YieldFrom, ast.Raise, ast.Try)
HIDDEN = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.FunctionDef)

Test = tuple[ast.expr, bool]
"""A test, and whether it holds where something is drawn."""


@dataclass
class Place:
    """Where a call draws. ``loops``: those around it, from the loop of the region on."""

    call: ast.Call
    loops: tuple[ast.For, ...]
    tests: tuple[Test, ...] = ()


@dataclass(eq=False)
class Drawn:
    """A draw of the loop. ``name``: of what is drawn for all iterations; ``text``: of the draw for one of them;
    ``sequence``: what it chooses an item of by its place, which is drawn; ``blank``: a value of the kind of those that
    are drawn, where one is known."""

    name: str
    place: Place
    text: str
    sequence: ast.expr | None = None
    blank: str | None = None

    @property
    def depth(self) -> int:
        return len(self.place.loops)

    def line(self) -> str:
        """The draw of one iteration, with others of its kind in lists of lists."""
        text = self.text
        if self.place.tests:
            tests = [ast.unparse(test if holds else ast.UnaryOp(ast.Not(), test)) for test, holds in self.place.tests]
            text = f"{text} if {' and '.join(f'({one})' for one in tests)} else {self.blank}"
        return f"{self.name}{'[-1]' * (self.depth - 1)}.append({text})"


def parts(drawn: Sequence[Drawn], loop: ast.For) -> list[Drawn | ast.For]:
    """The draws directly in a loop, and the loops inside of it around others, in order."""
    found: dict[Drawn | ast.For, None] = {}
    for one in drawn:
        if loop in one.place.loops:
            inner = one.place.loops[one.place.loops.index(loop) + 1 :]
            found.setdefault(inner[0] if inner else one)
    return list(found)


class _NotSure(Exception):
    """It depends on the data whether something is drawn."""


def in_order(loop: ast.For, is_draw: Callable[[ast.AST], bool]) -> list[Place] | None:
    """The draws of a loop in the order of an iteration; None where it is not known which iterations get to them."""
    try:
        return [*_of_body(loop.body, (loop,), (), is_draw)]
    except _NotSure:
        return None


def _of_body(
    body: list[ast.stmt], loops: tuple[ast.For, ...], tests: tuple[Test, ...], is_draw: Callable[[ast.AST], bool]
) -> Iterator[Place]:
    left = False
    for statement in body:
        inside = [node for node in nodes_of(statement) if is_draw(node)]
        jumps = [node for node in _without_inner_jumps(statement) if isinstance(node, (*EXITS, ast.Continue))]
        if (inside and left) or any(isinstance(node, EXITS) for node in jumps):
            raise _NotSure
        if inside:
            found = [*_of_statement(statement, loops, tests, is_draw)]
            if len(found) != len(inside):
                raise _NotSure
            yield from found
        left = left or bool(jumps)


def _of_statement(
    statement: ast.stmt, loops: tuple[ast.For, ...], tests: tuple[Test, ...], is_draw: Callable[[ast.AST], bool]
) -> Iterator[Place]:
    match statement:
        case ast.For(body=body, orelse=[]) if not tests:
            yield from _of_body(body, (*loops, statement), (), is_draw)
        case ast.If(test=test, body=body, orelse=orelse):
            asked = [*_of_expression(test, loops, tests, is_draw)]
            yield from asked
            for branch, holds in ((body, True), (orelse, False)):
                found = [*_of_body(branch, loops, (*tests, (test, holds)), is_draw)]
                if found and asked:
                    raise _NotSure
                yield from found
        case _:
            for part in _evaluated(statement):
                yield from _of_expression(part, loops, tests, is_draw)


def _of_expression(
    node: ast.expr, loops: tuple[ast.For, ...], tests: tuple[Test, ...], is_draw: Callable[[ast.AST], bool]
) -> Iterator[Place]:
    for one, holding in _ordered(node, tests):
        if isinstance(one, ast.Call) and is_draw(one):
            yield Place(one, loops, holding)


def _without_inner_jumps(statement: ast.stmt) -> Iterator[ast.AST]:
    """What a statement of a loop holds, but for the jumps of loops inside, which stay in it."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        yield node
        inner = node.body if isinstance(node, ast.For | ast.While) else []
        every = (one for child in inner for one in nodes_of(child))
        yield from (one for one in every if not isinstance(one, ast.Break | ast.Continue))
        pending += [one for one in children_of(node) if one not in inner]


def _evaluated(statement: ast.stmt) -> list[ast.expr]:
    """The expressions of a simple statement in the order in which they are evaluated."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            return [value, *targets]
        case ast.AnnAssign(target=target, value=value) if value is not None:
            return [value, target]
        case ast.AugAssign(target=ast.Name(), value=value) | ast.Expr(value=value):
            return [value]
    return []


def _ordered(node: ast.AST, tests: tuple[Test, ...]) -> Iterator[tuple[ast.AST, tuple[Test, ...]]]:
    """What is evaluated, in order, with the tests under which it surely is; a draw after what its arguments take."""
    if isinstance(node, HIDDEN):
        return
    if isinstance(node, ast.IfExp):
        yield from _ordered(node.test, tests)
        yield from _ordered(node.body, (*tests, (node.test, True)))
        yield from _ordered(node.orelse, (*tests, (node.test, False)))
        return
    parts = children_of(node)
    if isinstance(node, ast.BoolOp):
        parts = [node.values[0]]
    elif isinstance(node, ast.Compare):
        parts = [node.left, node.comparators[0]]
    for part in parts:
        yield from _ordered(part, tests)
    yield node, tests


# ---------------------------------------------------------------- what draws take


def needed(
    places: list[Place], taken: Sequence[ast.expr], before: list[ast.stmt], known: Mapping[str, Any]
) -> list[ast.stmt] | None:
    """The assignments before the loop that what draws take, and what is iterated, need; None where they need what the
    loop makes or changes. ``taken``: the draws, as they are done before the loop."""
    loop = places[0].loops[0]
    made = {*assigned_names(loop.body), *written_bases([*before, loop])} - _targets(places)
    read: set[str] = set()
    for node in taken:
        if not is_plain(node, of_draw=True):
            return None
        read |= names_of(node).loads
    for node in (*iterated(places), *tests_of(places)):
        if not is_plain(node) or any(isinstance(known.get(name), Iterator) for name in names_of(node).loads):
            return None
        read |= names_of(node).loads
    if read & made:
        return None
    found: list[ast.stmt] = []
    for statement in reversed(before):
        bound = {*assigned_names([statement])}
        if not bound & read:
            continue
        if not isinstance(statement, ast.Assign) or not is_plain(statement.value) or _is_iterator(statement.value):
            return None
        found.insert(0, statement)
        read = (read - bound) | names_of(statement.value).loads
    return None if read & made else found


def iterated(places: list[Place]) -> list[ast.expr]:
    """What the loops around draws run through."""
    return [loop.iter for loop in dict.fromkeys(loop for place in places for loop in place.loops)]


def tests_of(places: list[Place]) -> list[ast.expr]:
    return [test for place in places for test, _ in place.tests]


def _targets(places: list[Place]) -> set[str]:
    """Names that loops inside bind, and nothing else."""
    outer = places[0].loops[0]
    stores = [one.id for one in nodes_of(outer) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    inner = {loop for place in places for loop in place.loops[1:]}
    names = {name for loop in inner for name in names_of(loop.target).stores}
    return {name for name in names if stores.count(name) == 1}


def _is_iterator(node: ast.expr) -> bool:
    """Whether a value can be run through only once."""
    return isinstance(node, ast.Call) and root_of(node.func) in ITERATORS


def is_plain(node: ast.expr, *, of_draw: bool = False) -> bool:
    """Whether an expression takes no more than numbers, names, shapes and lengths; a draw itself is looked through."""
    parts = nodes_of(node)
    inner = [part for part in parts if isinstance(part, ast.Call) and not (of_draw and part is node)]
    if any(not (isinstance(part.func, ast.Name) and part.func.id in PURE) for part in inner):
        return False
    return all(isinstance(part, (*TESTS, ast.Call)) for part in parts)


def contents(places: list[Place], taken: Sequence[ast.expr], statements: list[ast.stmt]) -> set[str]:
    """The names, and attributes of names, of which draws take more than shapes and lengths; each with what it is of.

    ``statements``: what is needed before the loop.
    """
    found = {name for one in (*taken, *tests_of(places)) for name in _read(one)}
    for loop in reversed(dict.fromkeys(loop for place in places for loop in place.loops)):
        if found & names_of(loop.target).stores:
            found |= {*_read(loop.iter)}
    for statement in reversed(statements):
        if found & {*assigned_names([statement])} and isinstance(statement, ast.Assign):
            found |= {*_read(statement.value)}
    return found


def _read(node: ast.AST) -> Iterator[str]:
    parts: Iterable[ast.AST] = children_of(node)
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            yield name
        case ast.Attribute(attr=name) if name in ABOUT:
            return
        case ast.Attribute() if _is_dotted(node):
            yield ast.unparse(node)
            return
        case ast.Call(func=ast.Name(id="len")):
            return
        case ast.Call(func=func, args=args, keywords=keywords):
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            parts = [*args[name.endswith("_like") :], *(keyword.value for keyword in keywords)]
    for part in parts:
        yield from _read(part)


def _is_dotted(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_dotted(node.value))


def is_known_otherwise(places: list[Place], names: set[str], known: Mapping[str, Any]) -> bool:
    """Whether the loop may change, by another name, what one of these stands for that were bound before it."""
    loop, draws = places[0].loops[0], [place.call for place in places]
    for node in nodes_of(loop):
        match node:
            case ast.Assign(value=value) | ast.NamedExpr(value=value) if root_of(value) in names:
                return True
            case ast.For(iter=value) if node is not loop and root_of(value) in names:
                return True
            case ast.Call(func=func, args=args) if node not in draws:
                is_known = root_of(func) in PURE or isinstance(known.get(root_of(func)), types.ModuleType)
                if root_of(func) in names or (not is_known and any(root_of(one) in names for one in args)):
                    return True
    return False
