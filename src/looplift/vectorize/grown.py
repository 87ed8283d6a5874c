"""Lists that lanes make longer in a loop that stays, until they leave it, in; entries along an axis of their own out.

for t in range(n):              for t in range(n):
    h = f(h)                        active = ~stop ...
    if done(h): break               h = where(active, f(h), h)
    row.append(g(h))                row_list.append(g(h)); chosen_list.append(active & ~done(h))

Afterwards ``torch.stack(row_list, 1)`` has an entry for each lane and step, of which those are items that were chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.base.data import dataclass
from looplift.ir.array import Assign, Axis, Node, Push
from looplift.ir.facts import Kind
from looplift.ir.grammar import Loop
from looplift.vectorize import alone, doubts, nodes
from looplift.vectorize.nodes import Val
from looplift.vectorize.sheltered import sheltered

if TYPE_CHECKING:
    from looplift.vectorize.carried_inputs import Carried
    from looplift.vectorize.context import Context
    from looplift.vectorize.lists import Built


@dataclass(eq=False)
class Grown:
    """A list, the loop that makes it longer, and the lists of what each step appends, and in which lanes."""

    built: Built
    loop: Loop
    value: tuple[Node, Node]
    chosen: tuple[Node, Node] | None


def append(context: Context, built: Built, val: Val, mask: Node | None) -> None:
    """Keep what one step appends, in the lanes that do; all lanes if ``mask`` is None."""
    hint, (loop, *deeper) = built.var.hint, context.serial_loops[built.depth :]
    kind = val.node.kind
    plain = not (val.dims or val.sequence or val.items) and (kind.is_array or kind.is_number)
    if deeper or not built.axes or context.axes_inside(built.axes) or not plain:
        raise context.refuse("carried", f"'{hint}' grows in a loop that stays sequential")
    if built.entries or any(one.built is built for one in context.growing):
        raise context.refuse("order", f"'{hint}' is appended to at several places")
    asks = context.needs_grad and kind.is_array and nodes.may_have_gradient(kind.dtype)
    if asks and (built.begun or (mask is not None and context.mask is not context.active_in[loop])):
        raise context.refuse("carried", f"'{hint}' grows in some lanes only, of tensors that may have gradients")
    if any(node.kind != kind for node in built.begun):
        raise context.refuse("mixed-kinds", f"the items of '{hint}' are of different kinds")
    everywhere = [nodes.const(True)] * len(built.begun)
    chosen = None if mask is None else _kept(context, loop, built, [*everywhere, mask], "chosen")
    value = val.node if mask is None else sheltered(context, val.node, mask)
    context.growing.append(Grown(built, loop, _kept(context, loop, built, [*built.begun, value], hint), chosen))


def _kept(context: Context, loop: Loop, built: Built, items: list[Node], hint: str) -> tuple[Node, Node]:
    """A list that the loop pushes the last of these to in each step, after the others, and that value, of all lanes."""
    *begun, whole = [_whole(built, item) for item in items]
    name = context.fresh_name(f"{hint}_list")
    before = context.blocks_around[context.serial_loops.index(loop)]
    before += [Assign(name, Node("empty_list", (), (), Kind("list"))), *(Push(name, item) for item in begun)]
    context.add(Push(name, whole))
    return Node("name", (), (), Kind("list"), {"text": name, "local": True}, name), whole


def _whole(built: Built, node: Node) -> Node:
    """A value of all lanes."""
    return node if node.axes == built.axes else Node("spread", (node,), built.axes, node.kind, {}, node.hint)


def finish(context: Context, loop: Loop, carried: Carried | None) -> None:
    """After a loop: what it has appended, along an axis that counts its steps; ``carried``: what it carries, where
    gradients are asked for."""
    from looplift.vectorize.axes import next_order

    mine = [one for one in context.growing if one.loop is loop]
    for one in mine:
        context.growing.remove(one)
        steps = nodes.length_of(one.value[0])
        context.check(nodes.compare("ge", steps, nodes.const(1)))
        axis = Axis(context.fresh_name("step"), next_order(context), steps, nodes.const(0))
        chosen = None if one.chosen is None else _history(axis, *one.chosen)
        made = _history(axis, *one.value)
        doubts.record_listed(context, made, one.value[1], axis)
        if carried is not None:
            carried.remembered(made, one.value[1])
        if chosen is not None:
            doubts.check(context, made, chosen)
            doubts.record_chosen(context, made, chosen)
        _check_items(context, one.value[1], carried)
        one.built.entries.append((made, (axis,), chosen))
        one.built.differs = chosen is not None


def _check_items(context: Context, value: Node, carried: Carried | None) -> None:
    """Lanes that append nothing take no item of a list of the caller either, and those that do take it each time."""
    if carried is None or not context.items_of(value):
        return
    found = carried.made(value)
    if not found.may <= found.surely or (carried.masked and carried.limit is None):
        alone.check_any_lane(context, value)
    elif carried.limit is not None:
        context.check(nodes.compare("ge", carried.limit, nodes.const(1)))


def _history(axis: Axis, listed: Node, item: Node) -> Node:
    attrs = {"axis": axis, "extents": None} | ({"bits": item.attrs["bits"]} if "bits" in item.attrs else {})
    return Node("history", (listed,), (*item.axes, axis), item.kind, attrs, item.hint)
