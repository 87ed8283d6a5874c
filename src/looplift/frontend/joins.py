"""Values that reach the end of an If on its two sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from looplift.frontend import complexes, perhaps, rows
from looplift.frontend.cells import Cells
from looplift.frontend.instances import Instance
from looplift.frontend.ranges import Numbers, joined
from looplift.frontend.scope import Branch, Builder, Parted, State, Structure, Tup, Value, hint_of, is_none
from looplift.ir.grammar import UNDEFINED, Atom, Const, If, Phi, Var


def join(
    build: Builder, then: Value, orelse: Value, hint: str, phis: list[Phi], cells: Sequence[dict[str, Value]] = ()
) -> Value:
    """One value of two that reach the end of an If; tuples are joined item by item, and so are objects, lists and dicts
    of the same places, of which ``cells`` tell what they hold on the two sides."""
    if then is orelse:
        return then
    if cells and isinstance(then, Instance) and isinstance(orelse, Instance):
        return _joined_objects(build, then, orelse, hint, phis, cells)
    if build.markers and (count := perhaps.count_of(then, orelse)) is not None:
        return _joined_perhaps(build, then, orelse, count, hint, phis)
    is_parted = isinstance(then, Parted) or isinstance(orelse, Parted)
    if is_parted and (numbers := complexes.both(build, then, orelse)) is not None:
        parts = join(build, numbers[0].parts, numbers[1].parts, hint, phis)
        return complexes.with_parts(numbers[0], parts, complexes.least_of(*numbers))
    if isinstance(then, Numbers) and isinstance(orelse, Numbers):
        return joined(then, orelse, lambda one, other: join(build, one, other, hint, phis))
    if any(isinstance(side, Structure) and not isinstance(side, rows.Row) for side in (then, orelse)):
        if any(side is UNDEFINED or side in build.unbound_at_entry for side in (then, orelse)):
            return UNDEFINED
        if cells and isinstance(then, Cells) and isinstance(orelse, Cells):
            if (found := _joined_items(build, then, orelse, hint, phis, cells)) is not None:
                return found
        if any(isinstance(side, complexes.Complex) for side in (then, orelse)):
            raise build.refuse("mixed-kinds", f"'{hint}' is a complex number on one side of an 'if' alone")
        raise build.refuse("mixed-kinds", f"'{hint}' is another list, dict or function on each side of an 'if'")
    then, orelse = (build.atom(side) if isinstance(side, Structure) else side for side in (then, orelse))
    if isinstance(then, Const) and isinstance(orelse, Const) and not then.path and not orelse.path:
        if type(then.value) is type(orelse.value) and then.value == orelse.value:
            if repr(then.value) == repr(orelse.value):
                return then
    if isinstance(then, Tup) and isinstance(orelse, Tup) and len(then.items) == len(orelse.items):
        pairs = zip(then.items, orelse.items, strict=True)
        return Tup(tuple(join(build, a, b, hint, phis, cells) for a, b in pairs))
    if isinstance(then, Tup):
        if (other := unbound_like(build, then, orelse)) is not None:
            return join(build, then, other, hint, phis)
    elif isinstance(orelse, Tup):
        if (other := unbound_like(build, orelse, then)) is not None:
            return join(build, other, orelse, hint, phis)
    if isinstance(then, Tup) or isinstance(orelse, Tup):
        raise build.refuse("mixed-kinds", f"'{hint}' is a tuple on one side of an 'if' and not on the other")
    var = build.fresh(hint)
    phis.append(Phi(var, then, orelse))
    entered = [build.none_at_entry[side] for side in (then, orelse) if side in build.none_at_entry]
    if entered and all(is_none(side) or side in build.none_at_entry for side in (then, orelse)):
        build.none_at_entry[var] = entered[0]
    return var


def _joined_objects(
    build: Builder,
    then: Instance,
    orelse: Instance,
    hint: str,
    phis: list[Phi],
    cells: Sequence[dict[str, Value]],
) -> Value:
    if (found := _joined_items(build, then, orelse, hint, phis, cells)) is None:
        raise build.refuse("mixed-kinds", f"'{hint}' is another object on each side of an 'if'")
    return found


def _joined_items(
    build: Builder, then: Cells, orelse: Cells, hint: str, phis: list[Phi], cells: Sequence[dict[str, Value]]
) -> Value | None:
    """An object, list or dict that is one or the other: neither of them may change any more; None if they differ."""
    sides = [one.parts_in(held) for one, held in zip((then, orelse), cells, strict=True)]
    if sides[0] is None or sides[1] is None or not then.is_like(orelse):
        return None
    if then.is_handed_over or orelse.is_handed_over:
        return None
    parts = join(build, sides[0], sides[1], hint, phis)
    assert isinstance(parts, Tup)
    orelse.share(build)
    return then.carried(build, parts)


def _joined_perhaps(build: Builder, then: Value, orelse: Value, count: int, hint: str, phis: list[Phi]) -> Value:
    """A tuple that may be None, of two values of which one may be."""
    for side in (then, orelse):
        if side in build.none_at_entry:
            raise BecomesTuple(build.none_at_entry[side], count)
    sides = [perhaps.as_perhaps(side, count) for side in (then, orelse)]
    if sides[0] is None or sides[1] is None:
        raise build.refuse("mixed-kinds", f"'{hint}' is a tuple or None on one side of an 'if' and not on the other")
    parts = join(build, sides[0].parts, sides[1].parts, hint, phis)
    assert isinstance(parts, Tup)
    return perhaps.Perhaps(parts)


class BecomesTuple(Exception):
    """A name that is not bound, or None, before a loop is bound to a tuple in it: its items are carried one by one."""

    def __init__(self, var: Var, count: int):
        self.var, self.count = var, count


def unbound_like(build: Builder, shape: Tup, value: Value) -> Tup | None:
    """A tuple of as many items that are not bound, for a value that is not bound."""
    if value is UNDEFINED:
        return Tup((UNDEFINED,) * len(shape.items))
    if value in build.none_at_entry:
        raise BecomesTuple(build.none_at_entry[value], len(shape.items))
    if isinstance(value, Var) and value in build.unbound_at_entry:
        raise BecomesTuple(value, len(shape.items))
    return None


def branch(build: Builder, test: Atom, then: Callable[[], None], orelse: Callable[[], None]) -> None:
    """An If of the IR: what names and items hold on its two sides is joined."""
    span, before = build.span, build.state()
    then_block = build.block(then, Branch())
    then_state = build.state()
    build.restore(before)
    else_block = build.block(orelse, Branch())
    else_state = build.state()
    build.restore(before)
    phis: list[Phi] = []
    join_states(build, then_state, else_state, phis)
    build.add(If(test, then_block, else_block, tuple(phis), span))


def join_states(build: Builder, then: State, orelse: State, phis: list[Phi]) -> None:
    """What names and items hold after either of two sides."""
    for held, *sides in zip((build.env, build.cells), then, orelse, strict=True):
        joined: dict[str, Value] = {}
        cells = (then[1], orelse[1])
        for name in dict.fromkeys([*sides[0], *sides[1]]):
            first, second = (side[name] if name in side else build.entry_value(name) for side in sides)
            joined[name] = join(build, first, second, hint_of(name), phis, cells)
        held.update(joined)
