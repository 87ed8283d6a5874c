"""Lists of pieces of different lengths, in: what is put together of them is the flat value, or cut out of it.

out.append(x[s:e] * 2)     torch.cat(out)       the entries, one lane after the other
                           out                  the entries, split by lengths
                           torch.stack(out)     one length, which is required of all lanes
items[i].mean(0)           torch.cat(items)     the entries of the caller's list, folded for each item
"""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Axis, Node
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import Operand, Var
from looplift.vectorize import alone, nodes, rows, segments, unbounded
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val

Entry = tuple[Node, tuple[Axis, ...], Node | None]


def check_pieces(context: Context, val: Val, inside: tuple[Axis, ...], outside: tuple[Axis, ...]) -> None:
    """One ragged dimension, of entries that stand in the order of the lanes that append."""
    ragged = [axis for axis in val.dims or () if axis is not None]
    if len(ragged) != 1 or ragged[0].parents != tuple(inside) or val.node.axes != (ragged[0],) or outside:
        raise context.refuse("ragged-shape", "pieces of another length in each iteration, of several loops")


def _place(val: Val) -> tuple[int, Axis]:
    return next((k, axis) for k, axis in enumerate(val.dims or ()) if axis is not None)


def count(context: Context, entry: Entry) -> Node:
    _, inside, mask = entry
    if mask is not None or len(inside) != 1:
        raise context.refuse("ragged-shape", "the length of a list of pieces that differ in theirs")
    return inside[0].extent


def concatenated(context: Context, val: Val, entry: Entry, dim: int, fact: Fact, var: Var) -> Val:
    """``torch.cat`` of the pieces along the dimension in which they differ."""
    k, _ = _place(val)
    assert val.dims is not None
    if dim % len(val.dims) != k:
        raise context.refuse("ragged-shape", "pieces of another length in each iteration are put side by side")
    args, mask = (val.node,), entry[2]
    if mask is not None:
        context.check_some(mask)
        args = (val.node, mask)
    kind = fact.kind
    node = Node("flattened", args, (), Kind(kind.family, val.node.kind.dtype, kind.rank), {"dim": k}, var.hint)
    return Val(node if node.kind.dtype == kind.dtype else nodes.cast(node, kind.dtype))


def split(context: Context, val: Val, entry: Entry, hint: str, as_lists: bool) -> Node:
    """The pieces, each memory of its own, or as a list of numbers."""
    k, axis = _place(val)
    if k or entry[2] is not None:
        raise context.refuse("ragged-shape", "a list of pieces of another length, some of them left out")
    assert axis.lengths is not None
    return Node("split", (val.node, axis.lengths), (), Kind("list"), {"axis": axis, "as_lists": as_lists}, hint)


def of_one_length(context: Context, val: Val, inside: tuple[Axis, ...]) -> Node:
    """The pieces as a value of one shape, if all of them have one length."""
    from looplift.vectorize.ragged_stores import densified

    k, axis = _place(val)
    lanes = inside[0].extent
    for outer in inside[1:]:
        lanes = nodes.elementwise("mul", [lanes, outer.extent], nodes.INT)
    length = nodes.elementwise("floordiv", [axis.extent, lanes], nodes.INT)
    return densified(context, val, {k: length})


# ---------------------------------------------------------------- lists of the caller


def differing_dimensions(items: Any) -> list[int]:
    """The dimensions in which tensors or arrays of a list have different extents."""
    shapes = [tuple(item.shape) for item in items if hasattr(item, "shape")]
    if not shapes or len(set(map(len, shapes))) != 1:
        return []
    return [k for k, extents in enumerate(zip(*shapes, strict=True)) if len(set(extents)) > 1]


def items_of_different_lengths(
    context: Context, owner: Node, sample: Any, lane: Axis, element: Kind, dims: list[int]
) -> Val:
    """``items[i]``: all items put together once for each call, with the lane of each entry.

    Where matrices differ in both dimensions, the entries of each row are one after the other.
    """
    count = nodes.length_of(owner)
    if not nodes.same_integer(lane.extent, count):
        context.check(nodes.compare("eq", lane.extent, count), f"rows{nodes.key_of(owner)}")
    with context.unmasked():
        lengths = [_lengths_of(context, owner, sample, lane, dim) for dim in dims]
        axes = [segments.axis_of(context, lengths[0], (lane,), "k", ("items", lengths[0].serial))]
        for inner in lengths[1:]:
            key = ("items", axes[0].name, inner.serial)
            axes.append(segments.axis_of(context, segments.spread(inner, (axes[0],)), (axes[0],), "k", key))
    kind = Kind(element.family, element.dtype, element.rank - len(dims))
    flat = Node("items", (owner,), (axes[-1],), kind, {"dims": dims}, f"{owner.hint}_flat")
    if alone.may_ask(context, element) and not any(item.requires_grad for item in sample):
        alone.check_asks_for_none(context, flat)
    else:
        alone.noted(context, flat, sample)
    unbounded.check_items(context, flat)
    found = dict(zip(dims, axes, strict=True))
    return Val(flat, dims=tuple(found.get(k) for k in range(element.rank)))


def item_of_another_length(
    context: Context, owner: Node, sample: Any, index: Operand, element: Kind, dims: list[int]
) -> Val:
    """``items[near[i]]``: of all items, put together once for each call, a slice in each lane."""
    if len(dims) > 1:
        message = "a list of matrices that differ in both dimensions is read in another order than its own"
        raise context.refuse("ragged-shape", message)
    if context.needs_grad and any(getattr(item, "requires_grad", False) for item in sample):
        message = (
            "a list of tensors of different lengths, which ask for gradients, is read in another order than its own"
        )
        raise context.refuse("ragged-shape", message)
    (dim,), count = dims, nodes.length_of(owner)
    context.check(nodes.compare("ge", count, nodes.const(1)))
    at = segments.counted_from_start(context, segments.lane_integer(context, index), count)
    lengths = Node("item_lengths", (owner,), (), rows.integers(context), _attrs(dim, count), "lengths")
    ends = Node("along_dim", (lengths,), (), lengths.kind, {"name": "cumsum", "dim": -1, "extents": [count]})
    firsts = nodes.elementwise("sub", [ends, lengths], lengths.kind)
    length, first = (rows.read_table(context, table, at, nodes.INT) for table in (lengths, firsts))
    axis, entry = segments.slice_axis(context, None, None, length, "k")
    whole = Node("items", (owner,), (), element, {"dims": dims, "extents": [None] * element.rank}, f"{owner.hint}_flat")
    if alone.may_ask(context, element):
        alone.check_asks_for_none(context, whole)
    unbounded.check_items(context, whole)
    with context.unmasked():
        flat = rows.read_table(context, whole, nodes.elementwise("add", [first, entry], nodes.INT), element)
    return Val(flat, dims=tuple(axis if k == dim else None for k in range(element.rank)))


def _attrs(dim: int, count: Node) -> dict[str, Any]:
    return {"bits": 40, "dim": dim, "extents": [count]}


def _lengths_of(context: Context, owner: Node, sample: Any, lane: Axis, dim: int) -> Node:
    """How long the items are in one dimension; where it was as long as another one at first, that one, required."""
    key = ("lengths", nodes.key_of(owner), lane.name, dim)
    if key in context.ragged_axes:
        return context.ragged_axes[key]
    seen = tuple(item.shape[dim] for item in sample)
    attrs = {"bits": 40, "dim": dim, "lengths seen": seen}
    made = Node("item_lengths", (owner,), (lane,), nodes.INT, attrs, "lengths")
    for other in [*context.ragged_axes.values()]:
        if isinstance(other, Node) and other.op == made.op and other.axes == made.axes:
            if other.attrs["lengths seen"] == seen:
                context.check(nodes.compare("eq", made, other))
                made = other
                break
    context.ragged_axes[key] = made
    return made
