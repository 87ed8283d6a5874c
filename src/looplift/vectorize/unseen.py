"""Subscripts of which some dimensions are places that lanes choose in; what is required of them where nothing is taken.

x[a[i], s[i]:e[i]]          of an empty slice batched code makes no entry, and looks at no a[i]
x[a[i], k:]                 where no lane has an element, torch looks at no place at all

The loop raises an IndexError for each place that is outside, whatever there is to take beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.ir.array import Node
from looplift.vectorize import nodes, within
from looplift.vectorize.subscripts import Along, Cut, Gather, Piece, Segment, Steps, Whole, Window, numbered

if TYPE_CHECKING:
    from looplift.vectorize.context import Context

KEPT = (Whole, Cut, Window, Steps)
"""Subscripts that leave a dimension of one size in all lanes."""


def check_seen(context: Context, pieces: list[Piece], extent: Callable[[int], Node]) -> None:
    """``extent``: the size of each dimension of what is read or written."""
    if any(isinstance(piece, Segment) for piece in pieces):
        return _check_inside(context, pieces, extent)
    if context.library == "np" or not any(isinstance(piece, Gather) for piece in pieces):
        return None  # NumPy looks at all places
    found = [(_taking(piece), dim) for dim, piece in numbered(pieces) if isinstance(piece, KEPT)]
    if any(least is None for least, _ in found):
        return _check_inside(context, pieces, extent)
    for least, dim in found:
        for one in least or ():
            small, large = one if isinstance(one, tuple) else (one, extent(dim))
            context.check_at_most(small, large)
    return None


def _check_inside(context: Context, pieces: list[Piece], extent: Callable[[int], Node]) -> None:
    """Require of all places that lanes choose that they are inside."""
    from looplift.vectorize.indexing import along_node

    for dim, piece in numbered(pieces):
        if isinstance(piece, Along) and context.mask is not None:
            piece = Gather(along_node(piece))
        if not isinstance(piece, Gather) or piece.index.op == "member":
            continue
        index, size = piece.index, extent(dim)
        if not within.is_below(index, size):
            context.check(nodes.compare("lt", index, size))
        if not within.is_never_negative(index):
            context.check(nodes.compare("ge", index, nodes.minus(nodes.const(0), size)))


def _taking(piece: Whole | Cut | Window | Steps) -> list[Node | tuple[Node, Node]] | None:
    """What is at most the size of a dimension of which a part is not empty, or at most another number; None where
    that is not told."""
    one = nodes.const(1)
    if isinstance(piece, Whole):
        return [one]
    if isinstance(piece, Window | Steps):
        return [(one, piece.width)]
    lo, hi = piece.lo, piece.hi
    if piece.step is not None and not (piece.step.op == "const" and piece.step.attrs["value"] > 0):
        return None
    if hi is None:
        return [one] if lo is None else [one, nodes.plus(lo, one)]
    if lo is not None and not (nodes.is_const(lo, 0) or (hi.op == "const" and lo.op == "const")):
        return None
    first = 0 if lo is None else lo.attrs["value"]
    if hi.op != "const":
        return [one, (one, hi)]
    last = hi.attrs["value"]
    if first >= 0 and last < 0:
        return [nodes.const(first - last + 1)]
    return [nodes.const(first + 1)] if 0 <= first < last else None
