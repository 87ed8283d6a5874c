"""A loop that remembers, cut into loops: what needs no earlier iteration runs in lanes, what is left one by one.

for t in range(n):                   u = f(x)                                   in lanes, before
    u = f(x[t])                      for t in range(n):
    h = g(u, h)           ->             h = g(u[t], h); hs.append(h)           the cycle alone
    y[t] = k(h)                      y = k(stack(hs))                           in lanes, after

A cycle of a known form is a scan, and runs in lanes as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from looplift.ir.array import Axis, Node
from looplift.ir.grammar import UNDEFINED, Block, Carry, Let, Loop, Range, Var
from looplift.vectorize import alone, doubts, nodes, proofs, settled
from looplift.vectorize.context import Context
from looplift.vectorize.dependence import Unit
from looplift.vectorize.forms import conditions
from looplift.vectorize.nodes import Val
from looplift.vectorize.numbers import bits_of
from looplift.vectorize.recurrences import lower_scan
from looplift.vectorize.schedule import Phase, Schedule, needed_later
from looplift.vectorize.sheltered import check_regular_everywhere


def distribute(context: Context, loop: Loop, made: Schedule) -> str:
    """Lower the phases one after the other; returns what became of the loop."""
    from looplift.vectorize.axes import axis_of
    from looplift.vectorize.lower import index_val

    assert loop.index is not None and isinstance(loop.domain, Range)
    axis, _, _ = axis_of(context, loop.domain, context.fresh_name(loop.index.hint))
    if axis.is_ragged:
        raise context.refuse("ragged-shape", "a loop that remembers, of another length in each iteration")
    for carry in loop.carries:
        _open(context, loop, carry, made, axis)
    for phase in made.phases:
        if phase.way == "serial":
            _serial(context, loop, made, phase, axis)
            continue
        with _along(context, loop, axis):
            context.vals[loop.index] = index_val(axis)
            _in_lanes(context, loop, made, phase, axis)
            _note_sums(context, loop, made, phase, axis)
    for carry in loop.carries:
        _close(context, loop, carry, made, axis)
    ways = {phase.way for phase in made.phases}
    if "serial" not in ways:
        context.lanes_of[loop] = axis, None
    return "sequential" if "serial" in ways else "scan" if "scan" in ways else "lanes"


@contextmanager
def _along(context: Context, loop: Loop, axis: Axis) -> Iterator[None]:
    """The loop is an axis for a while."""
    context.axis_of[loop] = axis
    context.axes.append(axis)
    yield
    context.axes.remove(axis)
    del context.axis_of[loop]


def _open(context: Context, loop: Loop, carry: Carry, made: Schedule, axis: Axis) -> None:
    from looplift.vectorize.carries import open_reduction

    if carry.inside in context.accumulators:
        if carry not in made.reductions:
            raise context.refuse("carried", f"'{carry.hint}' is summed across a loop that stays sequential")
        return
    if carry.next is carry.inside:
        context.vals[carry.inside] = context.val(carry.init)
    elif carry in made.reductions:
        open_reduction(context, made.reductions[carry])


def _note_sums(context: Context, loop: Loop, made: Schedule, phase: Phase, axis: Axis) -> None:
    """Note which lanes have added something to sums whose terms, with the conditions around these, are of a phase."""
    for carry in loop.carries:
        if carry not in made.reductions or not isinstance(carry.next, Var):
            continue
        chain = {*made.reductions[carry].chain, carry.next} - {carry.inside}
        if all(made.phase_of(var) is phase for var in chain):
            settled.note_lanes(context, carry, axis)


def _in_lanes(context: Context, loop: Loop, made: Schedule, phase: Phase, axis: Axis) -> None:
    from looplift.vectorize.lower import block

    if phase.way == "shift":
        _cheap(context, made, [phase.units[0]])
        for carry in phase.carries:
            context.vals[carry.inside] = shifted(context, carry, context.val(carry.next), axis)
        return
    if phase.scan is not None:
        _cheap(context, made, phase.units)
        with _all(context):
            for unit in phase.scan.views:
                assert isinstance(unit.item, Let)
                block(context, Block((unit.item,)))
        lower_scan(context, phase.scan, axis)
        (carry,) = phase.carries
        if phase.scan.final:
            return
        context.vals[carry.inside] = shifted(context, carry, context.val(carry.next), axis)
        made_by_scan = {var for unit in phase.scan.views for var in unit.defines}
        made_by_scan |= {carry.inside, carry.next, *conditions(phase.scan.form)}
        _only(context, loop.body, [u for u in phase.units if not made_by_scan & u.defines])
        return
    _cheap(context, made, phase.units)
    _only(context, loop.body, phase.units)


def _cheap(context: Context, made: Schedule, units: list[Unit], more: tuple[Var, ...] = ()) -> None:
    """Make anew what the units read of positions and views."""
    from looplift.vectorize.lower import block

    maker = made.pieces.maker
    needed: set[Unit] = set()
    pending = [var for unit in units for var in (*unit.reads, *unit.guards)] + list(more)
    while pending:
        unit = maker.get(pending.pop())
        if unit is not None and unit.cheap and unit not in needed:
            needed.add(unit)
            pending += unit.reads
    with _all(context):
        for unit in sorted(needed, key=lambda one: one.position):
            assert isinstance(unit.item, Let)
            block(context, Block((unit.item,)))


@contextmanager
def _all(context: Context) -> Iterator[None]:
    saved, context.only = context.only, None
    yield
    context.only = saved


def _only(context: Context, body: Block, units: list[Unit]) -> None:
    from looplift.vectorize.lower import block

    saved, context.only = context.only, frozenset(id(unit.item) for unit in units)
    block(context, body)
    context.only = saved


def shifted(context: Context, carry: Carry, val: Val, axis: Axis) -> Val:
    """The value at entry of each iteration: the one before the loop, then what the iteration before left."""
    from looplift.vectorize.lower import fitting

    kind = context.facts.of[carry.inside].kind
    if val.sequence is not None or val.items is not None or carry.init is UNDEFINED or not _is_plain(kind):
        raise context.refuse("carried", f"'{carry.hint}', a {kind.family}, is carried from one iteration to the next")
    init, after = fitting(context.node(carry.init), kind), fitting(val.node, kind)
    if context.facts.kind(carry.init).is_array and init.kind.rank != kind.rank:
        raise context.refuse("mixed-kinds", f"'{carry.hint}' changes its shape in the loop")
    doubts.check_shifted(context, init, after, axis)
    alone.check(context, after)
    alone.check_any_lane(context, after)
    axes = nodes.merge_axes(init.axes, after.axes, (axis,))
    attrs = {"axis": axis} | ({"bits": max(bits_of(init), bits_of(after))} if kind.family == "int" else {})
    made = Node("shift", (init, after), axes, kind, attrs, carry.hint)
    doubts.record_shifted(context, made, init, after, axis)
    return Val(made)


def _is_plain(kind) -> bool:
    return kind.is_array or kind.is_number


def _close(context: Context, loop: Loop, carry: Carry, made: Schedule, axis: Axis) -> None:
    from looplift.vectorize.carries import close_carry
    from looplift.vectorize.lower import index_val

    phase = made.phase_of(carry.next) if isinstance(carry.next, Var) else None
    if carry.inside not in context.accumulators and phase is not None and phase.way == "serial":
        return
    if isinstance(carry.next, Var) and loop.index is not None:
        with _along(context, loop, axis):
            context.vals[loop.index] = index_val(axis)
            _cheap(context, made, [], (carry.next,))
    close_carry(context, loop, carry, axis, None)


# ---------------------------------------------------------------- what runs one by one


def _serial(context: Context, loop: Loop, made: Schedule, phase: Phase, axis: Axis) -> None:
    from looplift.vectorize.sequential import History, serial_phase

    carries = [*phase.carries]
    own = {var for unit in phase.units for var in unit.defines}
    for carry in loop.carries:
        if carry not in carries and carry.next in own and carry not in made.reductions:
            if proofs.only_carried(context, carry):
                carries.append(carry)
    held = [History(var) for var in needed_later(context, made, phase)]
    nexts = tuple(carry.next for carry in carries if isinstance(carry.next, Var))

    def body(index: Node) -> None:
        kept = _at_position(context, made, phase, carries, index, axis)
        _cheap(context, made, phase.units, nexts)
        _only(context, loop.body, phase.units)
        restored.update(kept)

    restored: dict[Var, Val] = {}
    serial_phase(context, loop, carries, held, body, axis)
    context.vals.update(restored)
    for history in held:
        context.vals[history.var] = history.value(context, axis)


def _at_position(
    context: Context, made: Schedule, phase: Phase, carries: list[Carry], index: Node, axis: Axis
) -> dict[Var, Val]:
    """Values of earlier phases as this iteration has them; returns those that they stand for."""
    own = {var for unit in phase.units for var in unit.defines}
    read = {var for unit in phase.units for var in (*unit.reads, *unit.guards)}
    read |= {carry.next for carry in carries if isinstance(carry.next, Var)}
    kept: dict[Var, Val] = {}
    for var in sorted(read - own, key=lambda one: one.name):
        unit = made.pieces.maker.get(var)
        if unit is None or unit.cheap or var not in context.vals:
            continue
        if isinstance(unit.item, Carry) and unit.item.next is unit.item.inside:
            continue
        kept[var] = context.vals[var]
        context.vals[var] = at(context, context.vals[var], axis, index)
    return kept


def at(context: Context, val: Val, axis: Axis, index: Node) -> Val:
    """A value in the lanes of an axis, at one position."""
    if val.items is not None:
        items = [at(context, item, axis, index) for item in val.items]
        made = Node("display", tuple(i.node for i in items), (), val.node.kind, dict(val.node.attrs))
        return Val(made, items=items)
    if val.sequence is not None:
        raise context.refuse("carried", "a list that is made in each iteration is read by what needs the one before")
    node = val.node
    if axis not in node.axes:
        if any(axis is parent for own in node.axes for parent in _line(own)):
            raise context.refuse("ragged-shape", "a ragged loop inside a loop that stays sequential")
        return val
    doubtful = doubts.check_at(context, node, axis)
    alone.check_any_lane(context, node)
    check_regular_everywhere(context, node)
    place = position(context, axis, index)
    rest = tuple(a for a in node.axes if a is not axis)
    attrs = {"axis": axis, "extents": node.attrs.get("extents")}
    if node.kind.is_number and node.kind.family == "int" and "bits" in node.attrs:
        attrs["bits"] = node.attrs["bits"]
    made = Node("at", (node, place), rest, node.kind, attrs, node.hint)
    doubts.record_moved(context, made, doubtful)
    return Val(made)


def _line(axis: Axis) -> Iterator[Axis]:
    from looplift.ir.array import ancestors

    return ancestors(axis)


def position(context: Context, axis: Axis, index: Node) -> Node:
    """How many iterations came before the one with this index."""
    gap = nodes.minus(index, axis.lo)
    if axis.step == 1:
        return gap
    if axis.step == -1:
        return nodes.times(gap, -1)
    attrs = {"name": "floordiv", "kwargs": [], "positional": 2}
    return Node("apply", (gap, nodes.const(axis.step)), (), nodes.INT, attrs)
