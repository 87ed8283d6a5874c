"""Stores into an array that each lane makes in; which lanes' arrays have gradients of what was stored out.

for b in range(n):                   sums of a lane without steps asks for no gradient in the loop, and in batched
    sums = torch.zeros(4)            code all lanes have theirs in one array
    for t in range(steps[b]):
        sums[t] = x[b, t] * w
    out.append(sums)
"""

from __future__ import annotations

from looplift.ir.array import Axis, Node, ancestors, merge_axes
from looplift.vectorize import doubts, nodes, segments
from looplift.vectorize.context import Array, Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.reached import leaves


def note(context: Context, array: Array, val: Val) -> None:
    """Note on an array after a store in which lanes something was stored."""
    lanes = array.axes if array.rows is None else array.rows.parents
    if not (context.needs_grad and lanes and array.written and nodes.may_have_gradient(array.kind.dtype)):
        return
    inputs = frozenset(leaves(val.node)) - {array.node.serial}
    if context.serial_loops or not val.node.kind.is_array or not inputs:
        return
    taken, known = _taken(context, lanes, context.mask), context.doubts.setdefault(doubts.number_of(array.node), [])
    if taken is not None:
        known.append((taken, inputs))
    known += [(_taken_where(context, lanes, some, taken), found) for some, found in doubts.found_in(context, val.node)]


def _taken_where(context: Context, lanes: tuple[Axis, ...], some: Node, taken: Node | None) -> Node:
    """In which lanes some of the values are stored; ``taken``: those in which any is."""
    if some.op == "asking" or doubts.is_unknown(some):
        return _unknown(lanes)
    if {*some.axes} <= _around(lanes):
        return some if taken is None else nodes.both(taken, some)
    found = _taken(context, lanes, nodes.both(context.mask, some))
    return _unknown(lanes) if found is None else found


def _taken(context: Context, lanes: tuple[Axis, ...], mask: Node | None) -> Node | None:
    """In which lanes the iterations of the loops inside of them run, those of a mask; None for all of them."""
    around = _around(lanes)
    inner = tuple(axis for axis in context.active_axes() if axis not in around)
    ragged = [axis for axis in inner if axis.is_ragged]
    if mask is None and not ragged:
        return None
    if len(ragged) > 1 or (ragged and (len(inner) > 1 or ragged[0].parents != lanes)):
        return _unknown(lanes)
    if mask is None:
        assert ragged[0].lengths is not None
        return nodes.compare("ge", ragged[0].lengths, nodes.const(1))
    if not {*mask.axes} <= {*around, *inner}:
        return _unknown(lanes)
    if not inner:
        return mask
    every = segments.spread(mask, merge_axes(lanes, mask.axes, inner))
    return Node("reduce", (every,), lanes, nodes.BOOL, {"axes": inner, "operator": "or"})


def _around(lanes: tuple[Axis, ...]) -> set[Axis]:
    return {*lanes, *(axis for lane in lanes for axis in ancestors(lane))}


def _unknown(lanes: tuple[Axis, ...]) -> Node:
    return Node("unknown", (), lanes, nodes.BOOL)
