"""A loop's statements in, the pieces that it may be distributed into: those that remember, and those that do not.

Units are the statements of the body, those under ifs one by one, and the joins of ifs. A unit depends on the units that
define what it reads; a carried value is a unit of its own, which its readers depend on and which depends on what
computes its next value. Strongly connected components that pass through a carried value are cycles (Allen and Kennedy).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from looplift.base.data import dataclass, field
from looplift.ir.grammar import (
    Atom,
    Block,
    Carry,
    Const,
    Group,
    If,
    Let,
    Loop,
    Operand,
    Perform,
    Phi,
    Slice,
    Statement,
    Store,
    Var,
    atoms,
    children,
    definitions,
    operands,
    uses,
    walk,
)
from looplift.ops import table
from looplift.vectorize.context import Context
from looplift.vectorize.flow import stored_roots
from looplift.vectorize.memory import check_root


@dataclass(eq=False)
class Unit:
    """A statement, one join of an If, or a carried value, with the conditions that it stands under."""

    item: Statement | Phi | Carry
    position: int
    defines: frozenset[Var]
    reads: frozenset[Var]
    guards: tuple[Var, ...] = ()
    before: set[Unit] = field(default_factory=set)
    """The units that must run first."""
    cheap: bool = False
    """Made anew wherever it is read: arithmetic of the loop's index, and views at it."""


@dataclass(eq=False)
class Component:
    """Units that must stay together; ``cyclic`` if an iteration needs an earlier one."""

    units: list[Unit]
    cyclic: bool

    @property
    def carries(self) -> list[Carry]:
        return [unit.item for unit in self.units if isinstance(unit.item, Carry)]


@dataclass
class Pieces:
    """A loop's units and components, the latter in an order in which they may run."""

    loop: Loop
    units: list[Unit]
    components: list[Component]
    maker: dict[Var, Unit]
    reductions: list[Carry]


def pieces_of(context: Context, loop: Loop, reductions: list[Carry], atomic: set[int]) -> Pieces:
    """The units of a loop and their components. ``reductions`` are carried values that need no order."""
    units = list(_units(context, loop.body, (), atomic))
    for position, unit in enumerate(units):
        unit.position = position
    units += [_carried(carry, len(units) + k) for k, carry in enumerate(loop.carries)]
    maker = {var: unit for unit in units for var in unit.defines}
    _mark_cheap(context, loop, units, maker)
    folded = {carry.inside for carry in reductions}
    for unit in units:
        for var in (*unit.reads, *unit.guards):
            if var in maker and maker[var] is not unit and not (var in folded and isinstance(maker[var].item, Carry)):
                unit.before.add(maker[var])
    carried = _memory(context, loop, units)
    return Pieces(loop, units, _components(units, carried), maker, reductions)


def _carried(carry: Carry, position: int) -> Unit:
    reads = frozenset([carry.next]) if isinstance(carry.next, Var) and carry.next is not carry.inside else frozenset()
    return Unit(carry, position, frozenset([carry.inside]), reads)


def _units(context: Context, block: Block, guards: tuple[Var, ...], atomic: set[int]) -> Iterator[Unit]:
    for statement in block:
        if isinstance(statement, Let) and statement.var in context.updates.absorbed:
            continue
        if isinstance(statement, If) and id(statement) not in atomic and _has_parts(context, statement):
            inside = (*guards, statement.cond) if isinstance(statement.cond, Var) else guards
            yield from _units(context, statement.then, inside, atomic)
            yield from _units(context, statement.orelse, inside, atomic)
            for phi in statement.phis:
                reads = frozenset(a for a in (statement.cond, phi.then, phi.orelse) if isinstance(a, Var))
                yield Unit(phi, 0, frozenset([phi.var]), reads, guards)
            continue
        yield Unit(statement, 0, frozenset(_defined(statement)), frozenset(_read(context, statement)), guards)


def _has_parts(context: Context, statement: If) -> bool:
    """Whether it is made of other units; one that does no more than ask for a truth, which may raise, is none."""
    return statement not in context.updates.of and bool(statement.then or statement.orelse or statement.phis)


def _defined(statement: Statement) -> Iterator[Var]:
    yield from definitions(statement)
    for block in children(statement):
        for inner in walk(block):
            yield from definitions(inner)


def _read(context: Context, statement: Statement) -> Iterator[Var]:
    own = {*_defined(statement), *context.updates.absorbed}
    every = [statement, *(inner for block in children(statement) for inner in walk(block))]
    for inner in every:
        yield from (
            atom for atom in (*uses(inner), *_places(context, inner)) if isinstance(atom, Var) and atom not in own
        )


def _places(context: Context, statement: Statement) -> Iterator[Atom]:
    """Where a store goes, and what an update combines: ``t = x[i]; t[j] = v`` needs ``i`` where it is done."""
    update = context.updates.of.get(statement)
    if update is not None:
        yield from (update.value, *atoms(update.index))
    ref = update.ref if update is not None else statement.ref if isinstance(statement, Store) else None
    while ref is not None:
        yield ref
        made = context.flow.definition.get(ref)
        ref = None
        if isinstance(made, Let) and made.op.name in ("getitem", "iter_item"):
            yield from operands(made.op)
            ref = made.op.args[0] if isinstance(made.op.args[0], Var) else None


# ---------------------------------------------------------------- what is made anew where it is read


def _mark_cheap(context: Context, loop: Loop, units: list[Unit], maker: dict[Var, Unit]) -> None:
    stored = stored_roots(context.flow, loop.body)
    known: set[Var] = {loop.index} if loop.index is not None else set()
    for unit in units:
        if isinstance(unit.item, Let) and not unit.guards and _is_cheap(context, unit.item, known, maker, stored):
            unit.cheap = True
            known.add(unit.item.var)


def _is_cheap(context: Context, statement: Let, known: set[Var], maker: dict[Var, Unit], stored: set[Var]) -> bool:
    op, kind = statement.op, context.facts.kind(statement.var)
    if context.flow.root(statement.var) in stored or op.kwargs:
        return False
    variables = [atom for atom in operands(op) if isinstance(atom, Var)]
    if any(var in maker and var not in known for var in variables):
        return False
    if op.name in ("getitem", "iter_item"):
        return isinstance(op.args[0], Var) and all(_is_position(context, item) for item in _items(op.args[1]))
    if op.name not in _ON_POSITIONS or not kind.is_number:
        return False
    return all(context.facts.kind(var).is_number for var in variables)


_ON_POSITIONS = frozenset("add sub mul neg eq ne lt le gt ge not mod floordiv and_ or_".split())


def _items(operand: Operand) -> Iterable[Operand]:
    if isinstance(operand, Group):
        return operand.items
    return (operand,)


def _is_position(context: Context, item: Operand) -> bool:
    if isinstance(item, Slice):
        return all(_is_position(context, part) for part in (item.lo, item.hi, item.step))
    return isinstance(item, Const) or (isinstance(item, Var) and context.facts.kind(item).family == "int")


# ---------------------------------------------------------------- memory and effects


def _memory(context: Context, loop: Loop, units: list[Unit]) -> set[tuple[Unit, Unit]]:
    """Order between units that touch the same memory; the pairs in both directions where iterations conflict."""
    carried: set[tuple[Unit, Unit]] = set()
    for root in stored_roots(context.flow, loop.body):
        touching = [unit for unit in units if _touches(context, unit, root)]
        own = any(root in unit.defines for unit in units)
        free = not own and check_root(context, loop, root) is None
        _chain(touching, carried, conflicting=not own and not free, glued=own)
    effects = [unit for unit in units if _has_effect(unit)]
    _chain(effects, carried, conflicting=False, glued=False)
    return carried


def _chain(touching: list[Unit], carried: set[tuple[Unit, Unit]], *, conflicting: bool, glued: bool) -> None:
    for first, second in itertools.pairwise(touching):
        second.before.add(first)
        if conflicting or glued:
            first.before.add(second)
        if conflicting:
            carried.add((first, second))
    if conflicting and len(touching) == 1:
        carried.add((touching[0], touching[0]))


def _touches(context: Context, unit: Unit, root: Var) -> bool:
    if isinstance(unit.item, Phi | Carry):
        return root in unit.reads
    every = [unit.item, *(inner for block in children(unit.item) for inner in walk(block))]
    found = (atom for inner in every for atom in uses(inner) if isinstance(atom, Var))
    return root in unit.defines | unit.reads or any(context.flow.root(atom) is root for atom in found)


def _has_effect(unit: Unit) -> bool:
    if isinstance(unit.item, Phi | Carry):
        return False
    every = [unit.item, *(inner for block in children(unit.item) for inner in walk(block))]
    return any(
        isinstance(inner, Perform) or (isinstance(inner, Let) and table.family(inner.op.name) == "random")
        for inner in every
    )


# ---------------------------------------------------------------- components


def _components(units: list[Unit], carried: set[tuple[Unit, Unit]]) -> list[Component]:
    """Strongly connected components in topological order, each with its units in program order (Tarjan 1972)."""
    index: dict[Unit, int] = {}
    low: dict[Unit, int] = {}
    stack: list[Unit] = []
    found: list[Component] = []

    def visit(unit: Unit) -> None:
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        for other in sorted(unit.before, key=lambda one: one.position):
            if other not in index:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in stack:
                low[unit] = min(low[unit], index[other])
        if low[unit] == index[unit]:
            at = stack.index(unit)
            members = sorted(stack[at:], key=lambda one: one.position)
            del stack[at:]
            found.append(Component(members, _is_cyclic(members, carried)))

    for unit in units:
        if unit not in index:
            visit(unit)
    return found


def _is_cyclic(members: list[Unit], carried: set[tuple[Unit, Unit]]) -> bool:
    if any((a, b) in carried for a in members for b in members):
        return True
    return len(members) > 1 and any(isinstance(unit.item, Carry) for unit in members)
