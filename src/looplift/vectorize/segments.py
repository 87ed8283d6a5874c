"""Slices and masks whose length differs from lane to lane, in; ragged axes and the places of their entries, out.

x[s:e]          entries k of lanes i     x[k], k = arange(total) + (s - first)[i_of_k]
x[mask]         entries where it holds   x[k], i_of_k, k = nonzero(mask)
x[s:s + 3]      one length in all lanes  x[s[:, None] + arange(3)]
"""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Axis, Node, ancestors, labels_compared, merge_axes
from looplift.ir.facts import Kind
from looplift.ir.grammar import Const, Operand, Slice
from looplift.vectorize import nodes, within
from looplift.vectorize.context import Context, node_of
from looplift.vectorize.linear import linear_of, minus
from looplift.vectorize.nodes import Val
from looplift.vectorize.subscripts import Along, Gather, Piece, Point, Segment, Steps, Tile, Window


def lane_integer(context: Context, atom: Operand) -> Node:
    """A bound of a slice as an int64 of each lane."""
    assert not isinstance(atom, Slice)
    affine = context.affine(atom)  # type: ignore[arg-type]
    node = node_of(affine) if affine is not None else context.node(atom)  # type: ignore[arg-type]
    dtype = str(nodes.lane_dtype(node.kind)) if node.kind.is_array or node.kind.is_number else ""
    if "int" not in dtype or node.kind.rank:
        raise context.refuse("unsupported-value", "a bound of a slice that is no integer")
    if node.kind.is_number:
        return node
    return Node("retype", (nodes.cast(node, nodes.lane_dtype(nodes.INT)),), node.axes, nodes.INT)


def counted_from_start(context: Context, at: Node, length: Node) -> Node:
    """A place in something of this length, as Python takes it; required to be inside."""
    if not within.is_below(at, length):
        context.check(nodes.compare("lt", at, length))
    if within.is_never_negative(at):
        return at
    context.check(nodes.compare("ge", at, nodes.elementwise("neg", [length], nodes.INT)))
    if at.op == "const":
        return nodes.elementwise("add", [length, at], nodes.INT)
    wrapped = nodes.elementwise("add", [at, length], nodes.INT)
    return nodes.select(nodes.compare("lt", at, nodes.const(0)), wrapped, at, nodes.INT)


def terms_of(node: Node) -> tuple[dict[Any, int], dict[Any, Node], Node]:
    """An integer as lane terms with coefficients, and the part that no axis changes."""
    if not node.axes:
        return {}, {}, node
    if node.op in ("retype", "cast") and _is_wide(node.args[0]):
        return terms_of(node.args[0])
    name = node.attrs.get("name") if node.op == "elementwise" and _is_wide(node) else None
    if name in ("add", "sub") and len(node.args) == 2 and all(map(_is_integer, node.args)):
        (left, atoms, base), (right, others, added) = map(terms_of, node.args)
        sign = 1 if name == "add" else -1
        terms = dict(left)
        for key, coefficient in right.items():
            terms[key] = terms.get(key, 0) + sign * coefficient
        if base.kind.is_number and added.kind.is_number:
            return {k: c for k, c in terms.items() if c}, atoms | others, nodes.plus(base, added, sign)
    key = nodes.structure_key(node)
    return {key: 1}, {key: node}, nodes.const(0)


def _is_integer(node: Node) -> bool:
    return not node.kind.rank and "int" in str(nodes.lane_dtype(node.kind))


def _is_wide(node: Node) -> bool:
    """Whether sums of it are those of integers: smaller types come round."""
    return _is_integer(node) and str(nodes.lane_dtype(node.kind)).rpartition(".")[2] == "int64"


def constant_width(lo: Node, hi: Node) -> Node | None:
    """``hi - lo`` if it is the same integer in every lane."""
    (left, _, base), (right, _, last) = terms_of(lo), terms_of(hi)
    if not left or left != right:
        return None
    return nodes.minus(last, base)


def constant_gap(lo: Node, hi: Node) -> Node | None:
    """The same for bounds whose steps are only known when the loop runs: ``i * k`` and ``(i + 1) * k``."""
    first, after = linear_of(lo), linear_of(hi)
    if first is None or after is None or not first.terms or (gap := minus(after, first)).terms:
        return None
    return gap.base


def window_index(context: Context, lo: Node, width: Node, extent: Node) -> Node:
    """The places of a window of one width, inside of the array in every lane."""
    context.check_at_most(nodes.const(0), width)
    context.check(nodes.compare("ge", lo, nodes.const(0)))
    context.check(nodes.compare("le", lo, nodes.minus(extent, width)))
    if context.mask is not None:
        lo = nodes.select(context.mask, lo, nodes.const(0), nodes.INT)
        context.check_at_most(width, extent)
    return steps_from(context, lo, width)


def steps_from(context: Context, lo: Node, width: Node) -> Node:
    """``lo, lo + 1, ...`` in each lane, as many in all."""
    kind = Kind("array" if context.library == "np" else "tensor", _index_dtype(context), 1)
    offsets = Node("arange", (width,), (), kind, {"extents": [width]})
    return nodes.elementwise("add", [lo, offsets], kind)


def _index_dtype(context: Context):
    if context.library == "np":
        import numpy as np

        return np.dtype("int64")
    return nodes.lane_dtype(nodes.INT)


# ---------------------------------------------------------------- lengths that differ


def bound(context: Context, node: Node, extent: Node, hint: str = "bound") -> Node:
    """A bound as Python takes it, between 0 and the extent."""
    if nodes.is_const(node, 0):
        return node
    if not node.axes and extent.axes:
        return _bound_of_lengths(node, extent)
    key = ("bound", nodes.structure_key(node), nodes.key_of(extent))
    if key not in context.ragged_axes:
        context.ragged_axes[key] = _bound(node, extent, hint)
    return context.ragged_axes[key]


def _bound_of_lengths(node: Node, lengths: Node) -> Node:
    """One bound for all lanes, cut to the length of each."""
    if is_positive(node):
        return nodes.elementwise("clamp_max", [lengths, node], nodes.INT)
    below = nodes.elementwise("add", [lengths, node], nodes.INT)
    cut = nodes.elementwise("clamp_min", [below, nodes.const(0)], nodes.INT)
    if node.op == "const":
        return cut
    above = nodes.elementwise("clamp_max", [lengths, node], nodes.INT)
    return nodes.select(nodes.compare("lt", node, nodes.const(0)), cut, above, nodes.INT)


def _bound(node: Node, extent: Node, hint: str) -> Node:
    axes = merge_axes(node.axes, extent.axes)
    return Node("bound", (node, extent), axes, nodes.INT, {"bits": 40, "positive": is_positive(node)}, hint)


def is_positive(node: Node) -> bool:
    """Whether an integer is surely not negative."""
    match node.op:
        case "const":
            return node.attrs["value"] >= 0
        case "index":
            axis: Axis = node.attrs["axis"]
            return axis.is_ragged or (nodes.least(axis.lo) >= 0 and axis.step > 0)
        case "extent" | "length" | "lengths":
            return True
        case "linear":
            return nodes.least(node) >= 0
        case "elementwise" if node.attrs["name"] in ("add", "mul"):
            return all(map(is_positive, node.args))
    return False


def slice_axis(context: Context, lo: Node | None, hi: Node | None, extent: Node, name: str) -> tuple[Axis, Node]:
    """The ragged axis of ``lo:hi`` and where its entries stand in the dimension that is sliced."""
    start = nodes.const(0) if lo is None else bound(context, lo, extent, "start")
    stop = extent if hi is None else bound(context, hi, extent, "stop")
    lengths = stop if nodes.is_const(start, 0) else nodes.elementwise("sub", [stop, start], nodes.INT)
    if not _is_ordered(lo, hi) and not nodes.is_const(start, 0):
        lengths = nodes.elementwise("clamp_min", [lengths, nodes.const(0)], nodes.INT)
    parents = lane_axes(context, merge_axes(start.axes, stop.axes))
    axis = axis_of(context, lengths, parents, name, (nodes.structure_key(start), nodes.structure_key(lengths)))
    return axis, _place(context, axis, start)


def _place(context: Context, axis: Axis, start: Node) -> Node:
    """Where the entries stand in the dimension that is sliced."""
    if ("place", axis) not in context.ragged_axes:
        context.ragged_axes["place", axis] = _place_of(axis, start)
    return context.ragged_axes["place", axis]


def _place_of(axis: Axis, start: Node) -> Node:
    index = index_of(axis)
    if not nodes.is_const(start, 0):
        index = nodes.elementwise("add", [index, start], nodes.INT)
    index.attrs["bits"], index.hint = 40, axis.name
    return index


def _is_ordered(lo: Node | None, hi: Node | None) -> bool:
    return lo is None


def index_of(axis: Axis) -> Node:
    return Node("index", (), (axis,), nodes.INT, {"axis": axis, "bits": 40}, axis.name)


def lane_axes(context: Context, axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """The lanes that a value of these axes is made for: where a ragged loop runs inside of one, those of the loop."""
    found: set[Axis] = set(axes)
    for axis in context.axes:
        if axis.is_ragged and found & set(ancestors(axis)):
            found.add(axis)
    return merge_axes(tuple(found))


def axis_of(context: Context, lengths: Node, parents: tuple[Axis, ...], name: str, key: Any, members=None) -> Axis:
    """The ragged axis of these lengths in these lanes; the same one for the same entries."""
    mask = context.mask
    whole = (key, parents, None if mask is None else mask.serial)
    if whole not in context.ragged_axes:
        if mask is not None and members is None:
            lengths = nodes.select(mask, lengths, nodes.const(0), nodes.INT)
            parents = lane_axes(context, merge_axes(parents, mask.axes))
        if not parents:
            raise context.refuse("ragged-shape", "the length of a part is computed outside of all loops")
        lengths.hint = lengths.hint or "lengths"
        lengths.attrs["is_length"] = True
        extent = Node("total", (spread(lengths, parents),), (), nodes.INT, {"key": f"#{lengths.serial}.total"})
        context.depth += 1
        axis = Axis(context.fresh_name(name), context.depth, extent, nodes.const(0), 1, parents, lengths, members)
        context.ragged_axes[whole] = axis
    return context.ragged_axes[whole]


def axis_of_lengths(context: Context, lengths: Node) -> Axis | None:
    """The axis of these lengths in all lanes, those included that do not run now; None if there is none."""
    for axis in context.ragged_axes.values():
        if isinstance(axis, Axis) and axis.lengths is lengths and axis.members is None:
            return axis
    return None


def spread(node: Node, axes: tuple[Axis, ...]) -> Node:
    """A value of some of the axes, repeated over all of them."""
    if node.axes == axes:
        return node
    return Node("spread", (node,), axes, node.kind, dict(node.attrs), node.hint)


def sliced(context: Context, item: Slice, extent: Node, windows: bool, several: bool) -> Segment | Steps | Tile:
    """``lo:hi`` with a bound that differs from lane to lane."""
    lo, hi = (
        None if isinstance(part, Const) and part.value is None else lane_integer(context, part)
        for part in (item.lo, item.hi)
    )
    width = constant_width(lo, hi) if lo is not None and hi is not None else None
    if width is None and lo is not None and hi is not None:
        gap = constant_gap(lo, hi)
        width = gap if gap is not None and (several or _is_share(context, lo, gap, extent)) else None
    if windows and lo is not None and hi is not None and width is not None:
        walked = linear_of(lo) if context.mask is None else None
        if walked is not None and len(walked.terms) == 1 and not any(axis.is_ragged for axis in walked.terms):
            ((axis, step),) = walked.terms.items()
            return Tile(axis, walked.base, step, width, (lo, hi))
        return Steps(window_index(context, lo, width, extent), width)
    axis, index = slice_axis(context, lo, hi, extent, "k")
    return Segment(axis, index, lo, hi, extent)


def _is_share(context: Context, lo: Node, width: Node, extent: Node) -> bool:
    """Whether slices are what ``n`` iterations share a dimension in: each as wide as ``extent // n``."""
    first = linear_of(lo)
    if first is None or len(first.terms) != 1 or not nodes.is_const(first.base, 0):
        return False
    ((axis, step),) = first.terms.items()
    divided = width.op in ("elementwise", "apply") and width.attrs["name"] == "floordiv"
    if not divided or not nodes.same_integer(step, width):
        return False
    whole, count = width.args
    if not nodes.same_integer(count, axis.extent):
        return False
    if nodes.same_integer(whole, extent):
        return True
    if nodes.equal_samples(nodes.minus(whole, extent)) is None:
        return False
    context.check_at_most(whole, extent)
    context.check_at_most(extent, whole)
    return True


def start_of(context: Context, piece: Segment) -> Node:
    """Where each lane's slice begins."""
    assert piece.extent is not None
    return nodes.const(0) if piece.lo is None else bound(context, piece.lo, piece.extent, "start")


def for_all_lanes(context: Context, piece: Segment, others: list[Segment]) -> Segment:
    """The same slice in each lane that the other slices of the subscript differ in too.

    ``x[a[i]:b[i], c[j]:d[j]]``: the rows are made once more for each ``j``, to hold the columns.
    """
    axis = piece.axis
    known = {*axis.parents, *(a for parent in axis.parents for a in ancestors(parent))}
    more = {parent for other in others for parent in other.axis.parents} - known
    if not more or axis.members is not None or axis.lengths is None:
        return piece
    lanes = lane_axes(context, merge_axes(axis.parents, tuple(more)))
    key = ("all lanes", axis, *lanes)
    made = axis_of(context, spread(axis.lengths, lanes), lanes, axis.name, key)
    return Segment(made, _place(context, made, start_of(context, piece)), piece.lo, piece.hi, piece.extent)


def inside(context: Context, piece: Segment, outer: Axis) -> Segment:
    """The same slice once more for each entry of a ragged axis: the inner dimension of a box."""
    axis = piece.axis
    if axis.members is not None or axis.lengths is None:
        raise context.refuse("ragged-shape", "two masks in one subscript")
    if not set(axis.parents) <= {*outer.parents, *(a for p in outer.parents for a in ancestors(p))}:
        raise context.refuse("ragged-shape", "slices in one subscript that move with different loops")
    lengths = spread(axis.lengths, (outer,))
    with context.unmasked():  # lanes that do not run have no entries of the outer one
        made = axis_of(context, lengths, (outer,), axis.name, ("inside", outer, axis))
    start = start_of(context, piece)
    return Segment(made, _place(context, made, start), piece.lo, piece.hi, piece.extent)


# ---------------------------------------------------------------- reads


def read(context: Context, base: Node, pieces: list[Piece], kind: Kind) -> Val:
    """``base[pieces]``: windows become dimensions of the value, ragged slices axes."""
    from looplift.vectorize.indexing import read_pieces
    from looplift.vectorize.subscripts import extent_of
    from looplift.vectorize.unseen import check_seen

    dims: list[Axis | None] = []
    for piece in pieces:
        if isinstance(piece, Segment):
            dims.append(piece.axis)
        elif not isinstance(piece, Point | Along | Gather) or (isinstance(piece, Gather) and piece.index.kind.rank):
            dims.append(None)
    if any(isinstance(piece, Window) for piece in pieces):
        raise context.refuse("ragged-shape", "a slice that moves with the loop, beside one of another length")
    ragged = any(isinstance(piece, Segment) for piece in pieces)
    flat: list[Piece] = [Gather(piece.index) if isinstance(piece, Segment) else piece for piece in pieces]
    if ragged:
        check_seen(context, pieces, lambda dim: extent_of(base, dim))
        kind = Kind(
            "array" if context.library == "np" else "tensor", kind.dtype, kind.rank - sum(a is not None for a in dims)
        )
        made = _unmasked(context, base, flat, kind)
        return Val(made, dims=tuple(dims))
    return Val(read_pieces(context, base, flat, kind))


def _unmasked(context: Context, base: Node, pieces: list[Piece], kind: Kind) -> Node:
    """Entries exist for lanes that run alone, so that no place needs a safe one instead."""
    from looplift.vectorize.indexing import along_node, read_pieces

    if context.mask is not None:
        pieces = [Gather(along_node(piece)) if isinstance(piece, Along) else piece for piece in pieces]
    with context.unmasked():
        return read_pieces(context, base, pieces, kind)


# ---------------------------------------------------------------- masks


def mask_axis(context: Context, mask: Node, extent: Node, name: str) -> tuple[Axis, Node]:
    """The ragged axis of the elements where a vector of booleans holds, and where they stand in it."""
    from looplift.vectorize.subscripts import extent_of

    if mask.kind.rank != 1:
        raise context.refuse("ragged-shape", "a subscript by a mask of several dimensions")
    equal = labels_compared(mask)
    length = extent_of(mask if equal is None else equal[0], 0)
    if not nodes.same_integer(length, extent):
        context.check_at_most(length, extent)
        context.check_at_most(extent, length)
    if equal is not None:
        return _group_axis(context, equal[0], equal[1].attrs["axis"], mask.kind, name)
    if context.mask is not None:
        mask = nodes.select(context.mask, mask, nodes.const(False), mask.kind)
    attrs = {"name": "sum", "dims": (-1,), "keepdim": False, "all": False, "kwargs": [], "as": "torch.sum"}
    count = Node("fold", (mask,), mask.axes, Kind("tensor", nodes.lane_dtype(nodes.INT), 0), attrs)
    return _member_axis(context, count, mask, mask.axes, name)


def _group_axis(context: Context, labels: Node, lanes: Axis, kind: Kind, name: str) -> tuple[Axis, Node]:
    """The entries of all groups at once, where each lane has the number of its group; lanes that do not run have none.

    Where those differ by other loops, the groups are the same in all of them, and made for all lanes.
    """
    operands = (labels, lanes.lo, lanes.extent)
    count = Node("label_counts", operands, (lanes,), Kind("tensor", nodes.lane_dtype(nodes.INT), 0))
    if (active := context.mask) is not None and set(active.axes) <= {lanes}:
        active = spread(active, (lanes,))
        count = nodes.select(active, count, nodes.const(0), count.kind)
        operands = (*operands, active)
    with context.unmasked():
        return _member_axis(context, count, Node("label_members", operands, (lanes,), kind), (lanes,), name)


def _member_axis(context: Context, count: Node, members: Node, lanes: tuple[Axis, ...], name: str) -> tuple[Axis, Node]:
    lengths = Node("retype", (count,), lanes, nodes.INT, {"bits": 40})
    axis = axis_of(context, lengths, lane_axes(context, lanes), name, ("mask", nodes.structure_key(members)), members)
    return axis, Node("member", (members,), (axis,), nodes.INT, {"bits": 40}, axis.name)


def masked(context: Context, mask: Node, extent: Node) -> Segment:
    """A subscript by a mask that differs from lane to lane."""
    axis, index = mask_axis(context, mask, extent, "k")
    return Segment(axis, index, mask=mask)
