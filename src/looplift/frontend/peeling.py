"""Loops whose first iteration gives a name its first value: that iteration is translated in front of the loop.

best = None                              best = x[0]
for i in range(n):                       for i in range(1, n):
    if best is None or x[i] < best:          if x[i] < best:
        best = x[i]                              best = x[i]

What ``is None`` asks is known then in either part. With no iteration the name stays None, and the original runs; in
another form both parts are behind the question whether there is one.

best, least = None, inf                  require d(x[0]) < inf; best, least = x[0], d(x[0])
for i in range(n):                       for i in range(1, n):
    if d(x[i]) < least:                      if d(x[i]) < least:
        best, least = x[i], d(x[i])              best, least = x[i], d(x[i])

With ``MET`` a condition on what it changes is taken to hold in that iteration, and the original runs where it does not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from looplift.base.data import replace
from looplift.base.syntax import nodes_of
from looplift.frontend import evident, expressions, iteration, joins, perhaps, statements
from looplift.frontend.exits import STOP_ATTRIBUTE
from looplift.frontend.names import assigned_names
from looplift.frontend.scope import Builder, Parted, Value, is_none
from looplift.ir.first_apart import NO_ITERATION
from looplift.ir.grammar import Atom, Block, Const, Function, If, Loop, Range, Require, Statement, Var, walk

MET = "met"
NOT_MET = "the first iteration gives a name no value"


def asks_for_iterations(function: Function) -> bool:
    """Whether loops that give names their first values must have iterations."""
    return any(isinstance(s, Require) and s.why == NO_ITERATION for s in walk(function.body))


def has_marker(nodes: Iterable[ast.stmt]) -> bool:
    """Whether statements bind a name to None."""
    for node in (child for statement in nodes for child in nodes_of(statement)):
        if isinstance(node, ast.Assign) and any(_is_none_node(part) for part in _parts(node.value)):
            return True
    return False


def _parts(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _is_none_node(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _improvement(node: ast.AST) -> ast.If | None:
    """``if d < least: least = d``, without another side."""
    if not isinstance(node, ast.If) or node.orelse or isinstance(node.test, ast.Name | ast.Constant):
        return None
    return node if _read(node.test) & {*assigned_names(node.body)} else None


def _read(node: ast.expr) -> set[str]:
    return {one.id for one in nodes_of(node) if isinstance(one, ast.Name)}


def peeled(build: Builder, node: ast.For, source: iteration.Source, rest: Callable[[iteration.Source], None]) -> bool:
    """Translate the first iteration and ``rest`` for those that follow; False, with nothing done, where no name that
    is None before the loop surely is something else after each iteration."""
    if not _counts_by_one(source.domain):
        return False
    names = assigned_names([node])
    waiting = [name for name in names if name in build.env and is_none(build.env[name])]
    waiting += [cell for cell, value in build.cells.items() if is_none(value)]
    if not waiting:
        return False
    before, block, length, certain = build.state(), build.blocks[-1], len(build.blocks[-1]), build.certain
    parted = False

    def parts() -> None:
        nonlocal parted
        parted = _in_two_parts(build, node, source, rest, waiting)

    runs = _has_iterations(build, source.domain)
    if build.empties:
        joins.branch(build, runs, parts, lambda: None)
    else:
        build.add(Require(runs, NO_ITERATION, build.span))
        parts()
    if not parted:
        del block[length:]
        build.restore(before)
        build.certain = certain
    return parted


def _in_two_parts(
    build: Builder,
    node: ast.For,
    source: iteration.Source,
    rest: Callable[[iteration.Source], None],
    waiting: list[str],
) -> bool:
    """Translate the first iteration, and then the others if it settles a name."""
    block, length = build.blocks[-1], len(build.blocks[-1])
    first: Value = source.domain.lo
    if not evident.is_integer(build, first):  # what `range` gives are integers of Python's
        first = build.emit("builtin.int", build.atom(first), hint="first")
    statements.assign(build, node.target, source.item(build, build.atom(first)))
    for statement in node.body:
        improved = _improvement(statement) if build.meets else None
        if improved is not None and _binds(improved, waiting):
            build.span = expressions.located(build, improved)
            build.add(Require(expressions.evaluate_atom(build, improved.test), NOT_MET, build.span))
            statements.translate_block(build, improved.body)
        else:
            statements.translate_block(build, [statement])
    settled = frozenset(name for name in waiting if _is_settled(build, build.held(name)[name], block[length:]))
    return bool(settled) and _others(build, node, source, rest, settled)


def _binds(statement: ast.If, waiting: list[str]) -> bool:
    """Whether a branch binds a name that is None, which its condition does not ask."""
    names = {*waiting}
    return bool(names & {*assigned_names(statement.body)}) and not names & _read(statement.test)


def _others(
    build: Builder,
    node: ast.For,
    source: iteration.Source,
    rest: Callable[[iteration.Source], None],
    settled: frozenset[str],
) -> bool:
    """Translate the iterations after the first; whether the names that it has settled stay so in all of them."""
    stop: str | None = getattr(node, STOP_ATTRIBUTE, None)
    stopped = build.atom(build.env[stop]) if stop else Const(False)
    later = replace(source, domain=_later(build, source.domain))
    length, outside = len(build.blocks[-1]), build.settled
    build.settled = outside | settled
    try:
        if not isinstance(stopped, Const):
            joins.branch(build, stopped, lambda: None, lambda: rest(later))
        elif not stopped.value:
            rest(later)
    finally:
        build.settled = outside
    made = build.blocks[-1][length:]
    loops = [s for s in walk(Block(tuple(made))) if isinstance(s, Loop)]
    carries = [carry for loop in loops for carry in loop.carries if carry.inside in build.certain]
    if not all(_is_settled(build, carry.next, made) for carry in carries):
        return False
    build.certain |= {carry.after for carry in carries}
    return True


def _counts_by_one(domain: Range) -> bool:
    return isinstance(domain.step, Const) and domain.step.value in (1, -1)


def _has_iterations(build: Builder, domain: Range) -> Var:
    up = isinstance(domain.step, Const) and domain.step.value == 1
    return build.emit("lt" if up else "gt", domain.lo, domain.hi)


def _later(build: Builder, domain: Range) -> Range:
    """The range without its first number."""
    start = expressions.folded("add", domain.lo, domain.step) or build.emit("add", domain.lo, domain.step)
    return replace(domain, lo=build.atom(start))


def _is_settled(build: Builder, value: Value, made: list[Statement]) -> bool:
    """Whether a value cannot be None."""
    if isinstance(value, Parted) and isinstance(value, perhaps.Perhaps):
        return False
    if not isinstance(value, Var):
        return not is_none(value)
    phis = {phi.var: (phi.then, phi.orelse) for s in walk(Block(tuple(made))) if isinstance(s, If) for phi in s.phis}
    for carry in (c for s in walk(Block(tuple(made))) if isinstance(s, Loop) for c in s.carries):
        phis[carry.inside] = phis[carry.after] = (carry.init, carry.next)
    seen = set(build.certain)

    def settled(atom: Atom) -> bool:
        if atom in seen or not isinstance(atom, Var):
            return not is_none(atom)
        seen.add(atom)
        return all(map(settled, phis.get(atom, ())))

    return settled(value)
