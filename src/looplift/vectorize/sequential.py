"""Loops that stay loops: their body is lowered in the axes outside of them, carried values are names assigned anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from looplift.ir.array import Assign, Axis, For, Forever, LeaveUnless, Node, Push
from looplift.ir.facts import Kind
from looplift.ir.grammar import UNDEFINED, Carry, Loop, Range, Var, While
from looplift.vectorize import nodes
from looplift.vectorize.context import Array, Context
from looplift.vectorize.flow import stored_roots
from looplift.vectorize.nodes import Val
from looplift.vectorize.numbers import truth
from looplift.vectorize.subscripts import extent_of


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
        return Val(Node("history", (listed,), axes, last.kind, attrs, self.var.hint))


def serial_phase(
    context: Context,
    loop: Loop,
    carries: list[Carry],
    held: list[History],
    body: Callable[[Node], None],
    axis: Axis | None,
) -> None:
    """``for t in range(...)`` around a body; ``held`` values are kept for each iteration."""
    domain = loop.domain
    assert isinstance(domain, Range) and loop.index is not None
    if loop.stop is not None:
        raise context.refuse("carried", "the loop is left early, by 'break' or 'return'")
    bounds = context.node(domain.lo), context.node(domain.hi), context.node(domain.step)
    if any(bound.axes for bound in bounds):
        raise context.refuse("ragged-shape", "a loop that stays sequential has another length in each lane")
    _bind_arrays(context, loop)
    names = [_enter(context, loop, carry) for carry in carries]
    _exchange(context, loop, carries, names)
    for history in held:
        history.start(context)
    context.check_at_most(nodes.const(1), axis.extent if axis is not None else _count(loop, bounds))
    name = axis.name if axis is not None else context.fresh_name(loop.index.hint)
    step = For(name, bounds, [])
    index = Node("name", (), (), nodes.INT, {"text": name, "bits": 40, "local": True}, name)
    context.vals[loop.index] = Val(index)
    context.serial_loops.append(loop)
    with context.nested(step.body):
        body(index)
        for history in held:
            history.push(context)
        _leave(context, carries, names, None)
    context.serial_loops.pop()
    context.add(step)
    _after(context, carries, names)


def _count(loop: Loop, bounds: tuple[Node, Node, Node]) -> Node:
    if all(bound.op == "const" for bound in bounds):
        return nodes.const(len(range(*(bound.attrs["value"] for bound in bounds))))
    return Node("count", bounds, (), nodes.INT, {"key": f"#{id(loop)}"})


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
    if loop.stop is not None:
        raise context.refuse("carried", "a 'while' loop that is left by 'break' or 'return'")
    if stored_roots(context.flow, loop.body):
        raise context.refuse("order", "a 'while' loop that writes to an array")
    names = [_enter(context, loop, carry) for carry in loop.carries]
    step = Forever([])
    context.serial_loops.append(loop)
    outside, context.in_while = context.in_while, True
    with context.nested(step.body):
        block(context, domain.block)
        cond = truth(context.node(domain.cond))
        cond = nodes.both(context.mask, cond) if cond.axes or (context.mask is not None and context.mask.axes) else cond
        active = cond
        if cond.axes:
            active = Node(
                "name", (), cond.axes, nodes.BOOL, {"text": context.fresh_name("active"), "local": True}, "active"
            )
            context.add(Assign(active.attrs["text"], cond))
        context.add(LeaveUnless(active))
        with context.masked(active if cond.axes else None):
            block(context, loop.body)
            _leave(context, list(loop.carries), names, active if cond.axes else None)
    context.in_while = outside
    context.serial_loops.pop()
    context.add(step)
    _after(context, list(loop.carries), names)


def _bind_arrays(context: Context, loop: Loop) -> None:
    """Arrays that the loop writes to need a name before it starts, and what it reads must be other memory."""
    from looplift.vectorize.memory import check_shared
    from looplift.vectorize.stores import bind

    for root in stored_roots(context.flow, loop.body):
        if (refusal := check_shared(context, root, loop)) is not None:
            raise refusal
        if root in context.arrays:
            bind(context, context.arrays[root])


def _enter(context: Context, loop: Loop, carry: Carry) -> Node | None:
    """Bind the carried value to a name of its own, aligned to all axes that it may vary with."""
    if carry.inside in context.accumulators:
        raise context.refuse("carried", f"'{carry.hint}' is summed across a loop that stays sequential")
    if carry.next is carry.inside:
        context.vals[carry.inside] = context.val(carry.init)
        return None
    fact = context.facts.of[carry.inside]
    if not (fact.kind.is_array or fact.kind.is_number):
        raise context.refuse("carried", f"'{carry.hint}', a {fact.kind.family}, is carried")
    name = context.fresh_name(carry.hint)
    axes = _axes_of(context, loop, carry)
    attrs = {"text": name, "local": True, "bits": 64}
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
    elif context.flow.users.get(carry.inside):
        if carry.init is UNDEFINED:
            raise context.refuse("carried", f"'{carry.hint}' is first bound inside a loop that stays sequential")
        context.add(Assign(name, _spread(context, carry, context.node(carry.init), axes, fact.kind)))
    elif isinstance(loop.domain, While):
        raise context.refuse("carried", f"'{carry.hint}' may not be bound after the loop")
    context.vals[carry.inside] = Val(node)
    return node


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


def _axes_of(context: Context, loop: Loop, carry: Carry) -> tuple[Axis, ...]:
    """The active axes with whose loops the value varies."""
    loops = {*context.facts.of[carry.inside].loops, *context.facts.of[carry.after].loops} - {loop}
    if isinstance(loop.domain, While) or context.mask is not None:
        return context.active_axes()
    return nodes.merge_axes(tuple(axis for other, axis in context.axis_of.items() if other in loops))


def _spread(context: Context, carry: Carry, node: Node, axes: tuple[Axis, ...], kind: Kind) -> Node:
    from looplift.vectorize.lower import fitting

    node = fitting(node, kind)
    if node.axes == axes:
        return Node("owned", (node,), axes, kind, {"carried": True}) if kind.is_array else node
    if nodes.merge_axes(node.axes, axes) != axes:
        raise context.refuse("carried", f"'{carry.hint}' varies with more loops than it did before")
    return Node("spread", (node,), axes, kind, {}, node.hint)


def _leave(context: Context, carries: list[Carry], names: list[Node | None], active: Node | None) -> None:
    """Assign the values for the next iteration, all of them after all of them are computed."""
    finals: list[tuple[str, Node]] = []
    for carry, inside in zip(carries, names, strict=True):
        if inside is None:
            continue
        val = context.val(carry.next)
        if val.sequence is not None or val.items is not None:
            raise context.refuse("carried", f"'{carry.hint}' is carried as a list or tuple")
        last = _spread(context, carry, val.node, inside.axes, inside.kind)
        if active is not None:
            last = context.select(active, last, inside, inside.kind)
        finals.append((inside.attrs["text"], last))
    if finals:
        context.add(Assign(",".join(name for name, _ in finals), _together([node for _, node in finals])))


def _together(values: list[Node]) -> Node:
    if len(values) == 1:
        return values[0]
    return Node("display", tuple(values), (), Kind("tuple"), {"kind": "tuple", "bare": True})


def _after(context: Context, carries: list[Carry], names: list[Node | None]) -> None:
    for carry, name in zip(carries, names, strict=True):
        context.vals[carry.after] = context.val(carry.init) if name is None else Val(_again(name))


def _again(name: Node) -> Node:
    """The name after the loop, where it holds another value than inside."""
    return Node("name", (), name.axes, name.kind, dict(name.attrs), name.hint)
