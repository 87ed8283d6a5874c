"""Stores into slices whose length differs from lane to lane, and of values that have another length in each lane.

out[s:e] = seg              out[k] = seg                  the last writer wins where places repeat
out[s:e] += seg             out.index_add_(0, k, seg)
out[i, :n] = 1              torch.where(arange < n[:, None], 1, out), where each lane has a row of its own
out[i, j, :n[i]] = seg      out[i[k], :, k] = seg         where 'j' is a dimension of its own
data[s:e] = f(data[s:e])    data[k] = f(data[k])          when no two lanes have a place in common
"""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Axis, Node, Write, ancestors, merge_axes
from looplift.ir.facts import Kind
from looplift.vectorize import doubts, nodes, segments, sheltered
from looplift.vectorize.context import Array, Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.subscripts import Along, Cut, Gather, Piece, Point, Segment, Whole, Window


def store_ragged(context: Context, array: Array, pieces: list[Piece], val: Val, combine: str | None) -> None:
    """A store of which the place or the value is ragged."""
    if any(isinstance(piece, Cut | Window) for piece in pieces):
        raise context.refuse("order", "a store into a slice beside one of another length in each iteration")
    if val.items is not None or val.sequence is not None:
        raise context.refuse("unsupported-value", f"a list is stored into '{array.var.hint}'")
    if context.needs_grad and context.mask is not None:
        context.check_some(context.mask)  # what is never stored has no gradient
        doubts.check(context, val.node, context.mask)
    doubts.check_stored(context, val.node)
    sheltered.check_regular_everywhere(context, val.node)
    if not any(isinstance(piece, Segment) for piece in pieces):
        return _store_dense(context, array, pieces, val, combine)
    if val.dims is None and _owns_rows(context, array, pieces) and _fits_rows(val.node, pieces):
        return _store_rows(context, array, pieces, val.node, combine)
    _store_entries(context, array, pieces, val, combine)


# ---------------------------------------------------------------- a row of each lane


def _owns_rows(context: Context, array: Array, pieces: list[Piece]) -> bool:
    """Whether each lane writes to a row of its own."""
    walked = [piece.axis for piece in pieces if isinstance(piece, Along)]
    return (
        len(set(walked)) == len(walked)
        and not set(walked) & set(array.axes)
        and set(walked) >= set(context.axes_inside(array.axes))
        and not any(isinstance(piece, Gather) or (isinstance(piece, Segment) and piece.mask) for piece in pieces)
    )


def _fits_rows(value: Node, pieces: list[Piece]) -> bool:
    """Whether a value is the same for all places of a ragged dimension, or has an extent of one there."""
    from looplift.vectorize.subscripts import extent_of

    lanes = [piece for piece in pieces if isinstance(piece, Segment | Whole)]
    for back in range(1, min(value.kind.rank, len(lanes)) + 1):
        if isinstance(lanes[-back], Segment) and not nodes.is_const(extent_of(value, value.kind.rank - back), 1):
            return False
    return value.kind.rank <= len(lanes)


def _store_rows(context: Context, array: Array, pieces: list[Piece], value: Node, combine: str | None) -> None:
    """A choice between the value and what the row holds, by a mask over its places."""
    from looplift.vectorize.stores import as_it_was, context_combine, read_pieces_unchecked, store_slices, stored

    places: list[Piece] = [Whole() if isinstance(piece, Segment) else piece for piece in pieces]
    lanes = [piece for piece in pieces if isinstance(piece, Segment | Whole)]
    kind = Kind(array.kind.family, array.kind.dtype, len(lanes))
    mask: Node | None = None
    for position, piece in enumerate(lanes):
        if isinstance(piece, Segment):
            here = _within(context, piece, len(lanes) - position)
            mask = here if mask is None else _both(mask, here)
    assert mask is not None
    old = read_pieces_unchecked(array.node, places, kind)
    if combine is not None:
        value = context_combine(context, combine, as_it_was(context, combine, old, kind), value, kind)
    value = nodes.select(mask, stored(value, kind), old, kind)  # an empty slice is written to as well
    store_slices(context, array, places, value, None)


def _within(context: Context, piece: Segment, back: int) -> Node:
    """Where along its dimension, the ``back``-th from the end, a lane's slice is."""
    assert piece.extent is not None
    dtype = nodes.lane_dtype(nodes.INT)
    family = "array" if context.library == "np" else "tensor"
    flag = Kind(family, nodes.lane_dtype(nodes.BOOL), 1)
    position = Node("arange", (piece.extent,), (), Kind(family, dtype, 1), {"extents": [piece.extent]})
    mask: Node | None = None
    for part, name in ((piece.lo, "ge"), (piece.hi, "lt")):
        if part is not None and not (name == "ge" and nodes.is_const(part, 0)):
            limit = part if segments.is_positive(part) else segments.bound(context, part, piece.extent)
            here = nodes.elementwise(name, [position, limit], flag)
            mask = here if mask is None else _both(mask, here)
    if mask is None:
        mask = nodes.elementwise("ge", [position, nodes.const(0)], flag)
    if back > 1:
        shape = Kind(family, flag.dtype, back)
        mask = Node("trailing", (mask,), mask.axes, shape, {"count": back - 1})
    return mask


def _both(a: Node, b: Node) -> Node:
    kind = Kind(a.kind.family, a.kind.dtype, max(a.kind.rank, b.kind.rank))
    return nodes.elementwise("and_", [a, b], kind)


# ---------------------------------------------------------------- entries


def _store_entries(context: Context, array: Array, pieces: list[Piece], val: Val, combine: str | None) -> None:
    from looplift.vectorize.stores import bind, check_store_range
    from looplift.vectorize.unseen import check_seen

    owned = _owns_rows(context, array, pieces)
    apart = array.var in context.when_apart
    if combine is not None and not (owned or apart) and combine not in ("add", "sub"):
        raise context.refuse("order", f"'{combine}=' into slices that may meet")
    for dim, piece in enumerate(pieces):
        check_store_range(context, array, dim, piece)
    check_seen(context, pieces, lambda dim: array.shape[dim])
    axis = next(piece.axis for piece in reversed(pieces) if isinstance(piece, Segment))
    free = _free_axes(context, array, pieces, axis) if owned and combine is None else ()
    pieces = _over_all_lanes(context, array, pieces, free)
    value = _aligned(context, pieces, val)
    bind(context, array)
    if apart and not owned:
        _check_apart(context, array, pieces, axis)
    if combine is not None and (owned or apart):
        value, combine = _combined(context, array, pieces, value, combine), None
    elif combine == "sub":
        value = nodes.negative(value, array.kind.dtype)
    if not (value.kind.is_number and not value.axes) and context.library == "torch":
        value = nodes.cast(value, array.kind.dtype)
    render = {"pieces": pieces, "axis": axis, "distinct": owned or apart, "dtype": array.kind.dtype, "free": free}
    operands = (value, *_index_nodes(pieces))
    context.add(Write(array.name, array.node, "add_entries" if combine else "entries", operands, render))


def _index_nodes(pieces: list[Piece]) -> tuple[Node, ...]:
    return tuple(
        piece.at if isinstance(piece, Point) else piece.index
        for piece in pieces
        if isinstance(piece, Point | Gather | Segment)
    )


def _free_axes(context: Context, array: Array, pieces: list[Piece], axis: Axis) -> tuple[Axis, ...]:
    """The axes of loops that the slice does not move with, where each walks along a dimension of its own."""
    outer = {axis, *ancestors(axis)}
    walked = [one for one in pieces if isinstance(one, Along) and one.axis not in outer]
    is_plain = all(one.coefficient == 1 and _is_count(one.base) and not one.axis.is_ragged for one in walked)
    if context.mask is not None or not set(array.axes) <= outer or not is_plain:
        return ()
    return tuple(one.axis for one in walked)


def _is_count(base: Node) -> bool:
    return base.op == "const" and base.attrs["value"] >= 0


def _over_all_lanes(context: Context, array: Array, pieces: list[Piece], free: tuple[Axis, ...]) -> list[Piece]:
    """The places in each active lane, in the order of the lanes: also for loops that the slice does not move with, but
    for the ``free`` ones, which keep dimensions of their own."""
    from looplift.vectorize.indexing import along_node

    lanes = tuple(axis for axis in merge_axes(array.axes, context.active_axes()) if axis not in free)
    made: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Segment) and not any(isinstance(other, Segment) for other in made):
            piece = _over(context, piece, lanes)
        elif isinstance(piece, Along) and piece.axis not in free:
            piece = Gather(along_node(piece))
        made.append(piece)
    return made


def _over(context: Context, piece: Segment, lanes: tuple[Axis, ...]) -> Segment:
    axis = piece.axis
    if set(axis.parents) == set(lanes):
        return piece
    raise context.refuse("order", "a store into a slice that moves with some of the loops only")


def _aligned(context: Context, pieces: list[Piece], val: Val) -> Node:
    """The value over the entries of the place."""
    from looplift.vectorize.ragged import broadcast

    dims = tuple(
        piece.axis if isinstance(piece, Segment) else None for piece in pieces if isinstance(piece, Segment | Whole)
    )
    kind = Kind("tensor", None, sum(axis is None for axis in dims))
    place = Val(Node("none", (), (), kind, {"extents": [None] * kind.rank}), dims=dims)
    if len(val.dims or ()) > len(dims):
        raise context.refuse("ragged-shape", "a value of more dimensions than its place is stored")
    (_, value), _ = broadcast(context, [place, val], len(dims))
    return value


def _combined(context: Context, array: Array, pieces: list[Piece], value: Node, combine: str) -> Node:
    """What is stored by ``+=`` and the like where each place is written once."""
    from looplift.vectorize.indexing import read_pieces
    from looplift.vectorize.stores import context_combine

    flat: list[Piece] = [Gather(piece.index) if isinstance(piece, Segment) else piece for piece in pieces]
    kind = Kind(array.kind.family, array.kind.dtype, sum(isinstance(piece, Whole) for piece in pieces))
    with context.unmasked():
        old = read_pieces(context, array.node, flat, kind)
    return context_combine(context, combine, old, value, kind)


def _check_apart(context: Context, array: Array, pieces: list[Piece], axis: Axis) -> None:
    """The proof holds when no place is written by two lanes: a predicate on the values of each call."""
    chosen = [piece for piece in pieces if not isinstance(piece, Whole)]
    operands: tuple[Node, ...]
    if len(chosen) == 1 and isinstance(chosen[0], Segment) and axis.members is None:
        assert axis.lengths is not None
        start = segments.start_of(context, chosen[0])
        operands = (segments.spread(start, axis.parents), segments.spread(axis.lengths, axis.parents))
        context.add_check(Node("segments_apart", operands, (), nodes.BOOL))
        return
    operands = (array.node, *_index_nodes(pieces))
    places = [dim for dim, piece in enumerate(pieces) if not isinstance(piece, Whole)]
    context.add_check(Node("places_apart", operands, (), nodes.BOOL, {"axes": (axis,), "dims": places}))


# ---------------------------------------------------------------- ragged values into rows of one length


def _store_dense(context: Context, array: Array, pieces: list[Piece], val: Val, combine: str | None) -> None:
    """``out[i] = seg``: every lane must have as many entries as the row."""
    from looplift.vectorize.stores import place

    extents = [array.shape[dim] for dim, piece in enumerate(pieces) if isinstance(piece, Whole)]
    dims = val.dims or ()
    if len(dims) > len(extents):
        raise context.refuse("ragged-shape", "a value of more dimensions than its place is stored")
    wanted = {k: extents[len(extents) - len(dims) + k] for k in range(len(dims))}
    node = densified(context, val, wanted)
    place(context, array, pieces, node, combine)


def densified(context: Context, val: Val, wanted: dict[int, Node]) -> Node:
    """A ragged value as one of these extents, which all lanes must have."""
    assert val.dims is not None
    ragged = [k for k, axis in enumerate(val.dims) if axis is not None]
    if len(ragged) != 1:
        raise context.refuse("ragged-shape", "a value with several dimensions of another length in each iteration")
    (k,) = ragged
    axis = val.dims[k]
    assert axis is not None and axis.lengths is not None
    context.check(nodes.compare("eq", axis.lengths, wanted[k]))
    if context.mask is not None:
        raise context.refuse("ragged-shape", "a value of another length in each iteration, under an 'if'")
    kind = Kind(val.node.kind.family, val.node.kind.dtype, len(val.dims))
    extents: list[Any] = list(val.node.attrs.get("extents") or [None] * val.node.kind.rank)
    extents.insert(k, wanted[k])
    axes = merge_axes(tuple(other for other in val.node.axes if other is not axis), axis.parents)
    if any(other.is_ragged for other in axes) or set(axis.parents) & set(val.node.axes):
        raise context.refuse("ragged-shape", "a value of several loops that has another length in each iteration")
    return Node("dense", (val.node, wanted[k]), axes, kind, {"axis": axis, "dim": k, "extents": extents})
