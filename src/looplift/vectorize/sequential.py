"""Loops that stay loops: their body is lowered in the axes outside of them, carried values are names assigned anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from looplift.base.data import dataclass
from looplift.ir.array import Assign, Axis, For, Forever, LeaveUnless, Node, Push, Step, ancestors
from looplift.ir.facts import Kind
from looplift.ir.grammar import UNDEFINED, Carry, Let, Loop, Range, Var, While, is_returned
from looplift.vectorize import alone, done_lanes, doubts, grown, list_flows, nodes, numbers, unbounded
from looplift.vectorize.carried_inputs import Carried
from looplift.vectorize.context import Array, Context
from looplift.vectorize.extents import Extents, agree, lane_extents
from looplift.vectorize.flow import stored_roots
from looplift.vectorize.kept_lanes import KeptLanes
from looplift.vectorize.lists import Built, Held
from looplift.vectorize.memory import check_shared, check_steps
from looplift.vectorize.nodes import Val
from looplift.vectorize.numbers import truth
from looplift.vectorize.settled import begin_notes, note_iteration
from looplift.vectorize.slow_counters import carried_bits
from looplift.vectorize.strips import pieces
from looplift.vectorize.subscripts import extent_of
from looplift.vectorize.walks import count_of, walk_of


def for_loop(context: Context, loop: Loop) -> None:
    """``for t in range(...)`` as written, each step for all lanes at once."""
    from looplift.vectorize.lower import block

    serial_phase(context, loop, list(loop.carries), [], lambda index: block(context, loop.body), None)


@dataclass(eq=False)
class History:
    """What a value was in each iteration of a loop that stays: a list while it runs, one more dimension after it."""

    var: Var
    name: str = ""
    last: Node | None = None
    carried: Carried | None = None

    def start(self, context: Context) -> None:
        self.name = context.fresh_name(f"{self.var.hint}_list")
        context.add(Assign(self.name, Node("empty_list", (), (), Kind("list"))))

    def push(self, context: Context) -> None:
        val = context.val(self.var)
        if val.sequence is not None or val.items is not None:
            raise context.refuse(
                "carried", f"'{self.var.hint}' is a list or tuple made in a loop that stays sequential"
            )
        self.last = val.node
        context.add(Push(self.name, val.node))

    def value(self, context: Context, axis: Axis) -> Val:
        """The list as a value that varies with the axis of its loop."""
        assert self.last is not None
        last = self.last
        axes = nodes.merge_axes(last.axes, (axis,))
        listed = Node("name", (), (), Kind("list"), {"text": self.name, "local": True}, self.name)
        attrs = {"axis": axis, "extents": None}
        if "bits" in last.attrs:
            attrs["bits"] = last.attrs["bits"]
        if axes != (*last.axes, axis):
            raise context.refuse("ragged-shape", f"'{self.var.hint}' varies with a loop inside of this one")
        made = Node("history", (listed,), axes, last.kind, attrs, self.var.hint)
        doubts.record_listed(context, made, last, axis)
        if self.carried is not None:
            self.carried.remembered(made, last)
        return Val(made)


def serial_phase(
    context: Context,
    loop: Loop,
    carries: list[Carry],
    held: list[History],
    body: Callable[[Node], None],
    axis: Axis | None,
) -> None:
    """``for t in range(...)`` around a body; ``held`` values are kept for each iteration.

    for t in range(length[i]):        for t in range(int(length.amax())):
        h = f(h)                          active = (t < length) & ~stop
        if done(h): break                 if not active.any(): break
                                          h = where(active, f(h), h); stop = where(active, done(h), stop)
    """
    assert loop.index is not None
    _bind_arrays(context, loop)
    walked = walk_of(context, loop)
    everywhere = walked.limit is None and context.mask is None and loop.stop is None
    check_steps(context, loop, same_index=walked.start is None, everywhere=everywhere)
    names = [_enter(context, loop, carry, alike=walked.limit is None) for carry in carries]
    _exchange(context, loop, carries, names)
    for history in held:
        history.start(context)
    noted = begin_notes(context, carries, all_run=walked.limit is None)
    if walked.limit is None:
        count = count_of(loop, walked.bounds, context.strips.get(loop))
        context.check_at_most(nodes.const(1), axis.extent if axis is not None else count)
    name = axis.name if axis is not None else context.fresh_name(loop.index.hint)
    step = For(name, walked.bounds, [])
    index = Node("name", (), (), nodes.INT, {"text": name, "bits": 40, "local": True, "counts": True}, name)
    context.vals[loop.index] = walked.index(index)
    with pieces(context, loop, index, walked.bounds[0]), _inside(context, loop, step.body):
        going = nodes.both(walked.going(index), _unstopped(context, loop))
        active = _activity(context, going)
        with context.masked(active):
            context.active_in[loop] = context.mask
            body(index)
            for history in held:
                history.push(context)
            left = _leave(context, carries, names, active)
        note_iteration(context, noted, active)
    carried = _carried(context, loop, left.finals, active, walked.limit)
    for history in held:
        history.carried = carried
    if left.taking and walked.limit is not None:
        context.check(nodes.compare("ge", walked.limit, nodes.const(1)))
    elif left.taking:
        alone.check_any_lane(context, left.taking[0])
    context.add(step)
    done_lanes.check_kept(context, left.factors)
    grown.finish(context, loop, carried)
    _after(context, carries, names, carried)


@contextmanager
def _inside(context: Context, loop: Loop, steps: list[Step]) -> Iterator[None]:
    outside = context.in_while
    context.in_while = outside or isinstance(loop.domain, While) or loop.stop is not None
    context.serial_loops.append(loop)
    context.blocks_around.append(context.steps[-1])
    with context.nested(steps):
        yield
    context.serial_loops.pop()
    context.blocks_around.pop()
    context.in_while = outside


def _unstopped(context: Context, loop: Loop) -> Node | None:
    """Where no iteration before this one has left the loop."""
    if loop.stop is None:
        return None
    flag = next((carry for carry in loop.carries if carry.next is loop.stop), None)
    if flag is None:
        raise context.refuse("carried", "the loop is left early, by 'break' or 'return'")
    return nodes.negated(truth(context.node(flag.inside)))


def _activity(context: Context, going: Node | None) -> Node | None:
    """Leave the loop when no lane goes on; where they go on, by a name, or None if all do."""
    if going is None:
        return None
    if context.mask is not None and (going.axes or context.mask.axes):
        going = nodes.both(context.mask, going)
    if not going.axes:
        context.add(LeaveUnless(going))
        return None
    name = context.fresh_name("active")
    context.add(Assign(name, going))
    active = Node("name", (), going.axes, nodes.BOOL, {"text": name, "local": True}, "active")
    context.add(LeaveUnless(active))
    return active


def while_loop(context: Context, loop: Loop) -> None:
    """``while`` for all lanes: it goes on while any lane does; lanes that are done keep their values.

    while cond(x): x = f(x)     while True:
                                    active = cond(x)
                                    if not active.any(): break
                                    x = where(active, f(x), x)
    """
    from looplift.vectorize.lower import block

    domain = loop.domain
    assert isinstance(domain, While)
    _bind_arrays(context, loop)
    check_steps(context, loop, same_index=False, everywhere=False)
    carries = list(loop.carries)
    names = [_enter(context, loop, carry) for carry in carries]
    noted = begin_notes(context, carries, all_run=False)
    step = Forever([])
    with _inside(context, loop, step.body):
        with context.masked(_unstopped(context, loop)):
            block(context, domain.block)
        going = nodes.both(numbers.holds(context, domain.cond), _unstopped(context, loop))
        active = _activity(context, going)
        with context.masked(active):
            context.active_in[loop] = context.mask
            block(context, loop.body)
            left = _leave(context, carries, names, active)
        note_iteration(context, noted, active)
    for value in left.taking:
        alone.check_any_lane(context, value)
    context.add(step)
    done_lanes.check_kept(context, left.factors)
    carried = _carried(context, loop, left.finals, active, None)
    grown.finish(context, loop, carried)
    _after(context, carries, names, carried)


def _carried(
    context: Context, loop: Loop, finals: list[Final], active: Node | None, limit: Node | None
) -> Carried | None:
    """What iterations make of what; None where no gradient is asked for."""
    if not context.needs_grad:
        return None
    written = [context.arrays[root] for root in stored_roots(context.flow, loop.body) if root in context.arrays]
    pairs = [
        (None if carry.init is UNDEFINED else context.lookup(carry.init).node, inside, last)
        for carry, inside, last in finals
        if inside.kind.is_array and nodes.may_have_gradient(inside.kind.dtype)
    ]
    roots = frozenset(array.node.serial for array in written)
    return Carried(context, pairs, roots, active is not None, limit, isinstance(loop.domain, Range))


def _bind_arrays(context: Context, loop: Loop) -> None:
    """Arrays that the loop writes to need a name before it starts, and what it reads must be other memory."""
    from looplift.vectorize.stores import bind

    for root in stored_roots(context.flow, loop.body):
        if (refusal := check_shared(context, root, loop.span)) is not None:
            raise refusal
        if root in context.arrays:
            bind(context, context.arrays[root])


def _enter(context: Context, loop: Loop, carry: Carry, *, alike: bool = False) -> Node | None:
    """Bind the carried value to a name of its own, aligned to all axes that it may vary with; ``alike``: all lanes
    have the same iterations."""
    if carry.inside in context.accumulators:
        raise context.refuse("carried", f"'{carry.hint}' is summed across a loop that stays sequential")
    if carry.next is carry.inside:
        context.vals[carry.inside] = context.lookup(carry.init)
        return None
    fact = context.facts.of[carry.inside]
    if carry.init is not UNDEFINED and context.lookup(carry.init).dims is not None:
        return _enter_ragged(context, loop, carry)
    if fact.kind.family == "list":
        list_flows.check_items(context, carry)
        made_by_all = alike and context.mask is None and loop.stop is None
        if carry.init is UNDEFINED and made_by_all and not context.flow.users.get(carry.inside):
            return _of_the_last(context, carry)
        return _enter_list(context, loop, carry)
    if not (fact.kind.is_array or fact.kind.is_number):
        raise context.refuse("carried", f"'{carry.hint}', a {fact.kind.family}, is carried")
    name = context.fresh_name(carry.hint)
    axes = _axes_of(context, loop, carry, alike)
    attrs = {"text": name, "local": True, "bits": carried_bits(context, carry)}
    node = Node("name", (), axes, fact.kind, attrs, name)
    if carry.next is not carry.inside and carry.inside in stored_roots(context.flow, loop.body):
        init = Node(
            "owned",
            (_spread(context, carry, context.node(carry.init), axes, fact.kind),),
            axes,
            fact.kind,
            {"copy": name},
        )
        context.add(Assign(name, init))
    elif carry.init is not UNDEFINED:
        if context.flow.users.get(carry.inside) or axes or loop.stop is not None or isinstance(loop.domain, While):
            context.add(Assign(name, _spread(context, carry, context.node(carry.init), axes, fact.kind)))
    elif context.flow.users.get(carry.inside) and not _is_guarded(context, carry):
        raise context.refuse("carried", f"'{carry.hint}' is first bound inside a loop that stays sequential")
    elif isinstance(loop.domain, While) and not _is_guarded(context, carry):
        raise context.refuse("carried", f"'{carry.hint}' may not be bound after the loop")
    elif axes or context.flow.users.get(carry.inside):
        context.add(Assign(name, _unbound(context, carry, axes, fact.kind)))
    if carry.init is not UNDEFINED:
        node.attrs["unbounded"] = unbounded.is_unbounded(context, context.node(carry.init))
    if _keeps_size(context, carry):
        node.attrs["extents"] = _kept_sizes(context, carry)
    context.vals[carry.inside] = Val(node)
    return node


def _keeps_size(context: Context, carry: Carry) -> bool:
    """Whether an array is as large in the next step, as far as can be told."""
    if carry.init is UNDEFINED or not isinstance(carry.next, Var) or not context.facts.kind(carry.inside).rank:
        return False
    first, *others = [context.facts[atom] for atom in (carry.init, carry.inside, carry.next)]
    return all(fact.fixed and fact.kind == first.kind and fact.shape == first.shape for fact in others)


def _kept_sizes(context: Context, carry: Carry) -> Extents | None:
    """The sizes of an array that the loop reads at places; of others those of one, which meet any other."""
    sizes = lane_extents(context, context.node(carry.init))
    users = [user.op for user in context.flow.users.get(carry.inside, ()) if isinstance(user, Let)]
    if any(op.name == "getitem" and op.args[0] is carry.inside for op in users) and None not in sizes:
        return sizes
    units = [size if size is not None and nodes.is_const(size, 1) else None for size in sizes]
    return units if any(units) else None


def _check_size(context: Context, inside: Node, last: Node) -> None:
    """An array of the next step has the size that was taken for that of all."""
    known = lane_extents(context, last)
    for dim, extent in enumerate(inside.attrs.get("extents") or ()):
        size = known[dim] or extent_of(last, dim)
        if extent is not None and not agree(context, extent, size):
            context.check(nodes.compare("eq", size, extent))


def _is_guarded(context: Context, carry: Carry) -> bool:
    """Whether a flag says where the value is bound, so that it is not read elsewhere."""
    optional = context.facts.function.attributes.get("optional", ())
    return is_returned(carry.inside) or carry.inside in optional


def _enter_ragged(context: Context, loop: Loop, carry: Carry) -> Node:
    """A value of another length in each lane, whose first dimension is ragged, and no other."""
    val = context.lookup(carry.init)
    assert val.dims is not None
    axis, *rest = val.dims
    parts = isinstance(loop.domain, While) or loop.stop is not None or context.mask is not None
    follows = not parts or (not context.needs_grad and _is_of_all_lanes(context, axis))
    changed = carry.inside in stored_roots(context.flow, loop.body)
    if axis is None or any(rest) or val.node.axes != (axis,) or changed or not follows:
        raise context.refuse("ragged-shape", f"'{carry.hint}', of another length in each iteration, is carried")
    name = context.fresh_name(carry.hint)
    node = Node("name", (), (axis,), val.node.kind, {"text": name, "local": True}, name)
    context.add(Assign(name, Node("owned", (val.node,), (axis,), node.kind, {"carried": True})))
    context.vals[carry.inside] = Val(node, dims=val.dims)
    return node


def _is_of_all_lanes(context: Context, axis: Axis | None) -> bool:
    """Whether all lanes in force have entries of their own, which they keep when they are done."""
    return axis is not None and set(context.active_axes()) <= {axis, *ancestors(axis)}


def _next_ragged(context: Context, carry: Carry, inside: Node, val: Val) -> Node:
    """The value of the next iteration, which must have as many entries in each lane as this one."""
    from looplift.vectorize.ragged import relabelled

    entered = context.vals[carry.inside].dims
    if val.dims is None or entered is None or [one is None for one in val.dims] != [one is None for one in entered]:
        raise context.refuse("ragged-shape", f"'{carry.hint}' is of another length in some iterations only")
    node = relabelled(context, val.node, list(val.dims), val.dims[0], entered[0])
    if node.axes != inside.axes or node.kind != inside.kind:
        raise context.refuse("carried", f"'{carry.hint}' varies with more loops than it did before")
    return Node("owned", (node,), node.axes, node.kind, {"carried": True})


def _enter_list(context: Context, loop: Loop, carry: Carry) -> Node:
    """A list that each iteration makes anew is an array, whose first lane dimension counts its items."""
    val = context.val(carry.init) if carry.init is not UNDEFINED else None
    if val is None or not isinstance(val.sequence, Built) or val.sequence.ragged is not None:
        raise context.refuse("carried", f"'{carry.hint}', a list, is carried")
    init = val.sequence.collected(context)
    alone.check_any_lane(context, init)
    name = context.fresh_name(carry.hint)
    node = _list_of_name(name, context.active_axes(), init.kind, name)
    context.add(Assign(name, _spread(context, carry, init, node.axes, init.kind)))
    context.vals[carry.inside] = _held(context, carry.inside, node, val.sequence.item_kind(context))
    return node


def _list_of_name(text: str, axes: tuple[Axis, ...], kind: Kind, hint: str) -> Node:
    """The list that a name stands for now, which may be of another length than the one before."""
    node = Node("name", (), axes, kind, {"text": text, "local": True, "key": f"{text}#"}, hint)
    node.attrs["extents"] = [
        Node("extent", (node,), (), nodes.INT, {"dim": dim + len(axes), "key": f"#{node.serial}.{dim}"})
        for dim in range(kind.rank)
    ]
    return node


def _of_the_last(context: Context, carry: Carry) -> Node:
    """A list that every iteration makes and none reads, of which the code after the loop takes the last; of what
    kind it is, is known when it is made."""
    context.vals[carry.inside] = Val(nodes.const(None), sequence=Built(carry.inside, context.active_axes()))
    return Node("name", (), (), context.facts.kind(carry.inside), {"text": context.fresh_name(carry.hint)}, carry.hint)


def _last_list(context: Context, carry: Carry, inside: Node, val: Val) -> tuple[Node, Node]:
    """The list that an iteration has made, as one array, and the name that it has after the loop."""
    if not isinstance(val.sequence, Built) or val.sequence.ragged is not None:
        raise context.refuse("carried", f"'{carry.hint}' is carried as a list or tuple")
    made, text = val.sequence.collected(context), inside.attrs["text"]
    alone.check_any_lane(context, made)
    node = _list_of_name(text, made.axes, made.kind, inside.hint)
    context.vals[carry.inside] = _held(context, carry.inside, node, val.sequence.item_kind(context))
    return made, node


def _held(context: Context, var: Var, node: Node, element: Kind) -> Val:
    return Val(nodes.const(None), sequence=Held(var, node.axes, element, node=node))


def _next_list(context: Context, carry: Carry, held: Held, val: Val, active: Node | None) -> Node:
    """The list of the next iteration, which must hold the same kind of items as this one, and as many of them where
    some lanes keep what they have."""
    if not isinstance(val.sequence, Built) or val.sequence.ragged is not None:
        raise context.refuse("carried", f"'{carry.hint}' is carried as a list or tuple")
    made, node = val.sequence.collected(context), held.collected(context)
    alone.check_any_lane(context, made)
    if made.kind != node.kind or val.sequence.item_kind(context) != held.element:
        raise context.refuse("mixed-kinds", f"the items of '{carry.hint}' change their kind")
    if active is not None or context.mask is not None:
        context.check(nodes.compare("eq", extent_of(made, 0), extent_of(node, 0)))
    return made


def _unbound(context: Context, carry: Carry, axes: tuple[Axis, ...], kind: Kind) -> Node:
    """What stands for a value that the first iteration binds in every lane."""
    if kind.rank:
        if context.flow.users.get(carry.inside) or "complex" in str(kind.dtype):
            raise context.refuse("carried", f"'{carry.hint}' is first bound inside a loop that stays sequential")
        return Node("unbound", (), axes, kind, {}, carry.hint)
    nothing = {"float": 0.0, "bool": False}.get(kind.family, 0)
    return _spread(context, carry, nodes.const(nothing), axes, kind)


def _exchange(context: Context, loop: Loop, carries: list[Carry], names: list[Node | None]) -> None:
    """Buffers that change places: ``u, v = v, u`` after ``v`` was written to. Each must be memory of its own."""
    stored = stored_roots(context.flow, loop.body)
    written = [carry for carry in carries if carry.inside in stored]
    if not written:
        return
    group = _closed(carries, written)
    for carry in group:
        if not _is_own_buffer(context, loop, carry, group):
            raise context.refuse("carried", f"'{carry.hint}' is carried while it is written to")
    for carry, node in zip(carries, names, strict=True):
        if carry in group and node is not None:
            node.attrs["memory"] = True
            shape = tuple(extent_of(node, dim) for dim in range(node.kind.rank))
            node.attrs["extents"] = list(shape)
            made = Array(carry.inside, node, node.kind, shape, True, node.axes, node.attrs["text"], written=True)
            context.arrays[carry.inside] = made


def _closed(carries: list[Carry], written: list[Carry]) -> list[Carry]:
    """The carries among which the written ones change places."""
    group = list(written)
    for carry in group:
        group += [
            other
            for other in carries
            if other not in group and (other.next is carry.inside or carry.next is other.inside)
        ]
    return group


def _is_own_buffer(context: Context, loop: Loop, carry: Carry, group: list[Carry]) -> bool:
    """Whether the carried array is made before the loop for this name alone, and changes places with others like it."""
    from looplift.vectorize.ownership import is_last_use, is_new

    init = carry.init
    if not isinstance(init, Var) or not context.facts.kind(init).is_array or not context.facts.kind(init).rank:
        return False
    inside = [other.inside for other in group]
    if carry.next not in inside or len({other.next for other in group}) < len(group):
        return False
    if sum(other.init is init for other in loop.carries) > 1:
        return False
    return is_new(context, init) and is_last_use(context, init, loop)


def _axes_of(context: Context, loop: Loop, carry: Carry, alike: bool) -> tuple[Axis, ...]:
    """The active axes with whose loops the value varies."""
    if isinstance(loop.domain, While) or context.mask is not None or loop.stop is not None:
        return context.active_axes()
    loops = {*context.facts.of[carry.inside].loops} - {loop}
    if not alike and isinstance(loop.domain, Range):
        loops |= {*context.facts.of[carry.after].loops} - {loop}
        bounds = (loop.domain.lo, loop.domain.hi, loop.domain.step)
        loops |= {outer for atom in bounds for outer in context.facts[atom].loops}
    return nodes.merge_axes(tuple(axis for other, axis in context.axis_of.items() if other in loops))


def _spread(context: Context, carry: Carry, node: Node, axes: tuple[Axis, ...], kind: Kind) -> Node:
    from looplift.vectorize.lower import fitting

    if kind.is_array:
        numbers.beside_tensors(context, node)
    node = nodes.shown(fitting(node, kind))
    while axes and kind.is_array and node.kind.is_array and node.kind.rank < kind.rank:  # 0 before what is a row
        larger = Kind(node.kind.family, node.kind.dtype, node.kind.rank + 1)
        node = Node("unsqueezed", (node,), node.axes, larger, {"dim": -1})
    if node.axes == axes:
        return Node("owned", (node,), axes, kind, {"carried": True}) if kind.is_array else node
    if nodes.merge_axes(node.axes, axes) != axes:
        raise context.refuse("carried", f"'{carry.hint}' varies with more loops than it did before")
    return Node("spread", (node,), axes, kind, {}, node.hint)


Final = tuple[Carry, Node, Node]
"""What is carried, its name inside of the loop, and its next value."""


class Left(NamedTuple):
    """What ``taking`` values only lanes that are active have the items of a list of, all of them, and the factors to
    look at after the loop."""

    taking: list[Node]
    finals: list[Final]
    factors: list[Node]


def _leave(context: Context, carries: list[Carry], names: list[Node | None], active: Node | None) -> Left:
    """Assign the values for the next iteration, all of them after all of them are computed."""
    taking: list[Node] = []
    factors: list[Node] = []
    finals: list[tuple[Node, Node]] = []
    left = [carry for carry, inside in zip(carries, names, strict=True) if inside is not None]
    for place, (carry, inside) in enumerate(zip(carries, names, strict=True)):
        if inside is None:
            continue
        if inside.kind.family == "list":
            made, last = _last_list(context, carry, inside, context.val(carry.next))
            names[place] = last
            finals.append((made, last))
            continue
        if inside.axes and context.vals[carry.inside].dims is not None:
            finals.append((_next_ragged(context, carry, inside, context.lookup(carry.next)), inside))
            continue
        val, entered = context.val(carry.next), context.vals[carry.inside].sequence
        if isinstance(entered, Held):
            val = Val(_next_list(context, carry, entered, val, active))
        elif val.sequence is not None or val.items is not None:
            raise context.refuse("carried", f"'{carry.hint}' is carried as a list or tuple")
        else:
            _check_size(context, inside, val.node)
        finals.append((_spread(context, carry, val.node, inside.axes, inside.kind), inside))
        doubts.record_carried(context, inside, val.node)
    if active is not None:
        factors = done_lanes.check_iteration(context, finals)
        kept = KeptLanes(context, active, finals)
        finals = [(kept.value(last, inside), inside) for last, inside in finals]
        taking = kept.taking
    if finals:
        names_of = ",".join(inside.attrs["text"] for _, inside in finals)
        context.add(Assign(names_of, _together([last for last, _ in finals])))
    return Left(taking, [(carry, inside, last) for carry, (last, inside) in zip(left, finals, strict=True)], factors)


def _together(values: list[Node]) -> Node:
    if len(values) == 1:
        return values[0]
    return Node("display", tuple(values), (), Kind("tuple"), {"kind": "tuple", "bare": True})


def _after(context: Context, carries: list[Carry], names: list[Node | None], carried: Carried | None) -> None:
    for carry, name in zip(carries, names, strict=True):
        dims, entered = context.vals[carry.inside].dims, context.vals[carry.inside].sequence
        if name is None:
            context.vals[carry.after] = context.lookup(carry.init)
            continue
        last = _again(name)
        context.vals[carry.after] = Val(last, dims=dims)
        if isinstance(entered, Held) and entered.element is not None:
            last = _list_of_name(name.attrs["text"], name.axes, name.kind, name.hint)
            context.vals[carry.after] = _held(context, carry.after, last, entered.element)
        if carried is not None and name.serial in carried.of:
            carried.after(last, name)


def _again(name: Node) -> Node:
    """The name after the loop, where it holds another value than inside."""
    return nodes.as_array(Node("name", (), name.axes, name.kind, dict(name.attrs), name.hint), name.kind)
