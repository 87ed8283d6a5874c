"""Loops that stay loops: their body is lowered in the axes outside of them, carried values are names assigned anew."""

from __future__ import annotations

from looplift.ir.array import Assign, Axis, For, Forever, LeaveUnless, Node
from looplift.ir.facts import Kind
from looplift.ir.grammar import UNDEFINED, Carry, Loop, Range, Var, While
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.flow import stored_roots
from looplift.vectorize.nodes import Val
from looplift.vectorize.numbers import truth


def for_loop(context: Context, loop: Loop) -> None:
    """``for t in range(...)`` as written, each step for all lanes at once."""
    from looplift.vectorize.lower import block

    domain = loop.domain
    assert isinstance(domain, Range) and loop.index is not None
    if loop.stop is not None:
        raise context.refuse("carried", "the loop is left early, by 'break' or 'return'")
    bounds = context.node(domain.lo), context.node(domain.hi), context.node(domain.step)
    if any(bound.axes for bound in bounds):
        raise context.refuse("ragged-shape", "a loop that stays sequential has another length in each lane")
    _bind_arrays(context, loop)
    _check_undefined(context, loop)
    names = [_enter(context, carry) for carry in loop.carries]
    if all(bound.op == "const" for bound in bounds):
        count = nodes.const(len(range(*(bound.attrs["value"] for bound in bounds))))
    else:
        count = Node("count", bounds, (), nodes.INT, {"key": f"#{id(loop)}"})
    context.check_at_most(nodes.const(1), count)
    index = context.fresh_name(loop.index.hint)
    step = For(index, bounds, [])
    context.vals[loop.index] = Val(Node("name", (), (), nodes.INT, {"text": index, "bits": 40, "local": True}, index))
    context.serial_loops.append(loop)
    with context.nested(step.body):
        block(context, loop.body)
        _leave(context, loop, names, None)
    context.serial_loops.pop()
    context.add(step)
    _after(context, loop)


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
    _check_undefined(context, loop)
    names = [_enter(context, carry) for carry in loop.carries]
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
            _leave(context, loop, names, active if cond.axes else None)
    context.in_while = outside
    context.serial_loops.pop()
    context.add(step)
    _after(context, loop)


def _check_undefined(context: Context, loop: Loop) -> None:
    for carry in loop.carries:
        if carry.init is UNDEFINED:
            raise context.refuse("carried", f"'{carry.hint}' is first bound inside a loop that stays sequential")


def _bind_arrays(context: Context, loop: Loop) -> None:
    """Arrays that the loop writes to need a name before it starts, and what it reads must be other memory."""
    from looplift.vectorize.memory import check_shared
    from looplift.vectorize.stores import bind

    for root in stored_roots(context.flow, loop.body):
        if (refusal := check_shared(context, root, loop)) is not None:
            raise refusal
        if root in context.arrays:
            bind(context, context.arrays[root])


def _enter(context: Context, carry: Carry) -> str | None:
    """Bind the carried value to a name of its own, aligned to all axes that it may vary with."""
    if carry.inside in context.accumulators:
        raise context.refuse("carried", f"'{carry.hint}' is summed across a loop that stays sequential")
    if carry.next is carry.inside:
        context.vals[carry.inside] = context.val(carry.init)
        return None
    fact = context.facts.of[carry.inside]
    if not (fact.kind.is_array or fact.kind.is_number):
        raise context.refuse("carried", f"'{carry.hint}', a {fact.kind.family}, is carried")
    axes = _axes_of(context, carry.inside)
    name = context.fresh_name(carry.hint)
    init = _spread(context.node(carry.init), axes, fact.kind)
    context.add(Assign(name, init))
    attrs = {"text": name, "local": True, "bits": 64}
    context.vals[carry.inside] = Val(Node("name", (), axes, fact.kind, attrs, name))
    return name


def _axes_of(context: Context, var: Var) -> tuple[Axis, ...]:
    """The active axes with whose loops the value varies."""
    if not context.facts.of[var].loops and not context.mask:
        return ()
    return context.active_axes()


def _spread(node: Node, axes: tuple[Axis, ...], kind: Kind) -> Node:
    from looplift.vectorize.lower import fitting

    node = fitting(node, kind)
    if node.axes == axes:
        return Node("owned", (node,), axes, kind, {"carried": True}) if kind.is_array else node
    return Node("spread", (node,), axes, kind, {}, node.hint)


def _leave(context: Context, loop: Loop, names: list[str | None], active: Node | None) -> None:
    """Assign the values for the next iteration, all of them after all of them are computed."""
    finals: list[tuple[str, Node]] = []
    for carry, name in zip(loop.carries, names, strict=True):
        if name is None:
            continue
        inside = context.vals[carry.inside].node
        val = context.val(carry.next)
        if val.sequence is not None or val.items is not None:
            raise context.refuse("carried", f"'{carry.hint}' is carried as a list or tuple")
        last = _spread(val.node, inside.axes, inside.kind)
        if active is not None:
            last = context.select(active, last, inside, inside.kind)
        finals.append((name, last))
    if finals:
        context.add(Assign(",".join(name for name, _ in finals), _together([node for _, node in finals])))


def _together(values: list[Node]) -> Node:
    if len(values) == 1:
        return values[0]
    return Node("display", tuple(values), (), Kind("tuple"), {"kind": "tuple", "bare": True})


def _after(context: Context, loop: Loop) -> None:
    for carry in loop.carries:
        context.vals[carry.after] = context.vals[carry.inside]
