"""What is stored and where in, whether it surely fits there out: what may not must come before other writes."""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.vectorize import nodes
from looplift.vectorize.context import Array, Context
from looplift.vectorize.extents import agree, lane_extents
from looplift.vectorize.subscripts import Along, Cut, Gather, Piece, Point, Whole


def fits(context: Context, array: Array, pieces: list[Piece], value: Node) -> bool:
    """Whether a value that is no wider than its place surely has its shape."""
    wholes = _wholes(array, pieces)
    extents = lane_extents(context, value)
    if len(extents) < len(wholes):
        return True  # it is broadcast, which fails where it cannot be
    return _agree(context, wholes, extents)


def never_fails(context: Context, array: Array, pieces: list[Piece], value: Node) -> bool:
    """Whether a store surely does not fail: single places are in the array, which is checked, and the value is one
    number or has the shape of its place."""
    for dim, piece in enumerate(pieces):
        if isinstance(piece, Point) and not _is_checked(context, array, piece, dim):
            return False
    if not value.kind.rank:
        return True
    if any(isinstance(p, Cut) or (isinstance(p, Gather) and p.index.kind.rank) for p in pieces):
        return False
    wholes, extents = _wholes(array, pieces), lane_extents(context, value)
    return len(extents) <= len(wholes) and _agree(context, wholes[len(wholes) - len(extents) :], extents)


def is_inside(pieces: list[Piece]) -> bool:
    """Whether places that were checked to be in their array are all that a store by index speaks of."""
    return all(isinstance(piece, Along | Whole) for piece in pieces)


def _is_checked(context: Context, array: Array, piece: Point, dim: int) -> bool:
    """Whether a place is one of the array: of the caller's ones it is required in front of all loops."""
    place = nodes.constant_of(piece.at)
    if place is None:
        return False
    least = nodes.const(place + 1 if place >= 0 else -place)
    if not array.fresh and len(context.steps) == 1:
        context.check_at_most(least, array.shape[dim])
    return context.is_required(least, array.shape[dim])


def _wholes(array: Array, pieces: list[Piece]) -> list[Node]:
    return [extent for extent, piece in zip(array.shape, pieces, strict=True) if isinstance(piece, Whole)]


def _agree(context: Context, wholes: list[Node], extents: list[Node | None]) -> bool:
    pairs = zip(wholes, extents, strict=True)
    return all([extent is not None and agree(context, whole, extent) for whole, extent in pairs])
