"""Lists that each lane makes, of another length in each, in; values with a ragged dimension for what is made of them.

torch.stack([x[j] for j in near[i]])                       the entries of the loop that appends
torch.stack([x[k] for k in range(n) if label[k] == i])     x[mask], with the mask of the lane
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.ir.array import Axis, Node, merge_axes
from looplift.ir.facts import Kind
from looplift.ir.grammar import Operand
from looplift.vectorize import doubts, nodes, segments
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.subscripts import Piece, Whole

if TYPE_CHECKING:
    from looplift.vectorize.lists import Built


def check_appended(context: Context, built: Built, val: Val, inside: tuple[Axis, ...], mask: Node | None) -> None:
    """One loop appends, values of one shape, once for each of its iterations; or dense ones do for some of theirs."""
    hint, ragged = built.var.hint, any(axis.is_ragged for axis in inside)
    if (ragged and len(inside) > 1) or not built.axes:
        raise context.refuse("ragged-shape", f"'{hint}' is appended to in a ragged loop")
    if mask is not None and ragged:
        raise context.refuse("ragged-shape", f"'{hint}' is appended to under an 'if' in a ragged loop")
    if val.dims is not None or val.sequence is not None or not (val.node.kind.is_array or val.node.kind.is_number):
        raise context.refuse("ragged-shape", f"'{hint}' has another length in each iteration")


def value(context: Context, built: Built, kind: Kind) -> Val:
    """The list as one value; ``kind``: that of the array which is made of it."""
    item, inside, mask = built.entries[0]
    if set(inside) & set(context.axes):
        raise context.refuse("carried", f"'{built.var.hint}' is read while the loop fills it")
    node = nodes.cast(item, kind.dtype) if item.kind.is_number else item
    if mask is not None:
        with context.among(built.axes):
            return _chosen(context, built, node, inside, mask)
    (axis,) = inside
    spread = segments.spread(node, merge_axes(node.axes, (axis,)))
    return Val(spread, dims=(axis, *(None,) * node.kind.rank))


def _chosen(context: Context, built: Built, node: Node, inside: tuple[Axis, ...], mask: Node) -> Val:
    """The items that dense loops appended under an ``if``."""
    if any(axis.is_ragged for axis in inside):
        raise context.refuse("ragged-shape", f"'{built.var.hint}' has another length in each iteration")
    family, rank = "array" if context.library == "np" else "tensor", node.kind.rank
    lanes = tuple(other for other in node.axes if other not in inside)
    count = inside[0].extent
    for axis in inside[1:]:
        count = nodes.elementwise("mul", [count, axis.extent], nodes.INT)
    extents = [count, *(node.attrs.get("extents") or [None] * rank)]
    attrs = {"inside": inside, "extents": extents}
    kind = Kind(family, node.kind.dtype, rank + 1)
    whole = Node("collect", (node,), lanes, kind, attrs, built.var.hint)
    piece = segments.masked(context, _vector(context, built, inside, mask, count), count)
    pieces: list[Piece] = [piece, *[Whole()] * rank]
    made = segments.read(context, whole, pieces, kind)

    def entries(held: Node) -> Node:
        """Where the entries of a mask of the appending lanes hold."""
        every = merge_axes(held.axes, inside)
        held = held if held.axes == every else Node("spread", (held,), every, held.kind, {}, held.hint)
        outer, dtype = tuple(one for one in every if one not in inside), nodes.lane_dtype(nodes.BOOL)
        vector = Node("collect", (held,), outer, Kind("tensor", dtype, 1), {"inside": inside, "extents": [count]})
        return segments.read(context, vector, [piece], vector.kind).node

    doubts.record_entries(context, made.node, node, entries)
    return made


def _vector(context: Context, built: Built, inside: tuple[Axis, ...], mask: Node, count: Node) -> Node:
    """The mask of each lane as a vector over the iterations."""
    kind = Kind("array" if context.library == "np" else "tensor", nodes.lane_dtype(nodes.BOOL), 1)
    if context.library == "np":
        kind = Kind("array", _numpy_bool(), 1)
    lanes = tuple(other for other in mask.axes if other not in inside) or built.axes
    attrs = {"inside": inside, "extents": [count]}
    if context.library == "torch" and (pair := _compared(mask, inside)) is not None:
        label, index = pair
        labels = Node("collect", (label,), (), Kind("tensor", nodes.lane_dtype(nodes.INT), 1), attrs, "labels")
        return Node("elementwise", (labels, index), index.axes, kind, {"name": "eq"}, "chosen")
    return Node("collect", (mask,), lanes, kind, {"inside": inside, "extents": [count]}, "chosen")


def _compared(mask: Node, inside: tuple[Axis, ...]) -> tuple[Node, Node] | None:
    """The integers of the iterations that each lane compares with its own position, and that; None for other masks."""
    if mask.op != "elementwise" or mask.attrs["name"] != "eq" or len(mask.args) != 2:
        return None
    for label, index in (mask.args, mask.args[::-1]):
        if label.axes == inside and label.kind == nodes.INT and index.op == "index":
            axis: Axis = index.attrs["axis"]
            if not axis.is_ragged and axis.step == 1 and index.axes == (axis,):
                return label, index
    return None


def _numpy_bool():
    import numpy as np

    return np.dtype("bool")


def length(context: Context, built: Built) -> Node:
    """How many items the list has in each lane."""
    from looplift.vectorize.ragged import extent

    kind = Kind("array" if context.library == "np" else "tensor", nodes.lane_dtype(nodes.INT), 1)
    return extent(context, value(context, built, kind), 0)


def item(context: Context, built: Built, index: Operand, element: Kind) -> Val:
    """``items[k]``: one entry of each lane."""
    from looplift.vectorize.ragged_items import entry

    kind = element if element.is_array else Kind("tensor", nodes.lane_dtype(element), 0)
    made = value(context, built, kind)
    assert made.dims is not None and made.dims[0] is not None
    got = entry(context, made.node, made.dims[0], index)
    return Val(got) if element.is_array else Val(Node("retype", (got,), got.axes, element))


def turned(context: Context, built: Built, kind: Kind) -> tuple[Node, tuple[Axis, ...]]:
    """The items of each lane from the last to the first; ``kind``: that of the array which is made of them."""
    from looplift.vectorize.ragged import outer_length
    from looplift.vectorize.ragged_items import at_entries

    made = value(context, built, kind)
    assert made.dims is not None and made.dims[0] is not None
    axis = made.dims[0]
    behind = nodes.elementwise("sub", [outer_length(context, axis), segments.index_of(axis)], nodes.INT)
    place = nodes.elementwise("sub", [behind, nodes.const(1)], nodes.INT)
    return at_entries(context, made.node, axis, place), (axis,)


def check_not_empty(context: Context, val: Val) -> None:
    """Nothing cannot be stacked."""
    from looplift.vectorize.ragged import extent

    context.check(nodes.compare("ge", extent(context, val, 0), nodes.const(1)))
