"""Reads by subscripts: views where subscripts are affine, gathers where they are not.

x[i]        i an axis, lo .. hi          x[lo:hi], its dimension labelled i
x[i - 1]    affine                       x[lo - 1:hi - 1]
x[i - 1:i + 2]                           x.unfold(...)[lo - 1:], window last
x[idx[i]]   not affine                   x[idx]
x[i, i], x[a[i], b[j]]                   x[arange, arange], advanced indexing
"""

from __future__ import annotations

from looplift.ir.array import Axis, Node, merge_axes
from looplift.ir.facts import Kind
from looplift.ir.grammar import Operand
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.subscripts import Along, Cut, Gather, New, Piece, Point, Whole, Window, extent_of, pieces_of


def read(context: Context, base: Node, index: Operand, kind: Kind) -> Val:
    """``base[index]`` in every lane; ``kind`` is that of one lane's result."""
    pieces = pieces_of(context, index, base.kind.rank)
    return Val(read_pieces(context, base, pieces, kind))


def read_pieces(context: Context, base: Node, pieces: list[Piece], kind: Kind) -> Node:
    if context.mask is not None:
        pieces = [_safe(context, base, k, piece) for k, piece in enumerate(pieces)]
    along = [piece for piece in pieces if isinstance(piece, Along | Window)]
    axes = [piece.axis for piece in along]
    simple = not any(isinstance(piece, Gather) for piece in pieces)
    if not simple or len(set(axes)) < len(axes) or set(axes) & set(base.axes) or _implied(base, axes):
        return _gather(context, base, pieces, kind)
    for dim, piece in enumerate(pieces):
        _check_range(context, base, dim, piece)
    extents = [_extent(base, dim, piece) for dim, piece in enumerate(pieces) if not isinstance(piece, Point | Along)]
    result = merge_axes(base.axes, tuple(axes))
    return Node("slice", (base, *piece_nodes(pieces)), result, kind, {"pieces": pieces, "extents": extents})


def _implied(base: Node, axes: list[Axis]) -> bool:
    """Whether a ragged axis of the base already implies one of these."""
    return len(merge_axes(base.axes, tuple(axes))) < len(base.axes) + len(axes)


def _extent(base: Node, dim: int, piece: Piece) -> Node | None:
    match piece:
        case Whole():
            return extent_of(base, dim)
        case Window(width=width):
            return width
        case New():
            return nodes.const(1)
    return None


def piece_nodes(pieces: list[Piece]) -> tuple[Node, ...]:
    found: list[Node] = []
    for piece in pieces:
        match piece:
            case Cut(lo=lo, hi=hi, step=step):
                found += [part for part in (lo, hi, step) if part is not None]
            case Point(at=at):
                found.append(at)
            case Along(axis=axis, base=base) | Window(axis=axis, base=base):
                found += [base, axis.extent]
            case Gather(index=index):
                found.append(index)
        if isinstance(piece, Window):
            found.append(piece.width)
    return tuple(found)


def _check_range(context: Context, base: Node, dim: int, piece: Piece) -> None:
    """What a slice would silently cut or wrap, and the loop would not."""
    match piece:
        case Along(axis=axis, coefficient=coefficient, base=start):
            width: Node = nodes.const(1)
        case Window(axis=axis, coefficient=coefficient, base=start, width=width):
            context.check_at_most(nodes.const(0), width)
        case _:
            return
    last = nodes.plus(start, nodes.times(nodes.minus(axis.extent, nodes.const(1)), coefficient))
    low, high = (start, last) if coefficient > 0 else (last, start)
    context.check_at_most(nodes.const(0), low)
    context.check_at_most(nodes.plus(high, width), extent_of(base, dim))


def _safe(context: Context, base: Node, dim: int, piece: Piece) -> Piece:
    """Under a mask, subscripts of lanes that do not run may be out of range: they read element 0 instead."""
    match piece:
        case Gather(index=index) if not index.kind.rank:
            return Gather(_masked_index(context, index))
        case Along(axis=axis, coefficient=coefficient, base=start):
            last = nodes.plus(start, nodes.times(nodes.minus(axis.extent, nodes.const(1)), coefficient))
            low, high = (start, last) if coefficient > 0 else (last, start)
            if surely(nodes.const(0), low) and surely(nodes.plus(high, nodes.const(1)), extent_of(base, dim)):
                return piece
            return Gather(_masked_index(context, along_node(piece)))
        case Window():
            raise context.refuse("ragged-shape", "a slice that moves with the loop, under an 'if'")
        case Point(at=at) if not (at.op == "const" and at.attrs["value"] in (0, -1)):
            return piece
    return piece


def surely(small: Node, large: Node) -> bool:
    gap = nodes.constant_of(nodes.minus(large, small))
    return gap is not None and gap >= 0


def along_node(piece: Along) -> Node:
    """The subscript as lane values; ``piece.base`` is that of the first position."""
    return Node("along", (piece.base, piece.axis.extent), (piece.axis,), nodes.INT, {"coefficient": piece.coefficient})


def _masked_index(context: Context, index: Node) -> Node:
    assert context.mask is not None
    return context.select(context.mask, index, nodes.const(0), Kind("int"))


def _gather(context: Context, base: Node, pieces: list[Piece], kind: Kind) -> Node:
    """Advanced indexing: every dimension that an axis walks gets an index tensor."""
    if any(isinstance(piece, Window | New) for piece in pieces):
        raise context.refuse("unsupported-value", "a slice that moves with the loop, beside an index tensor")
    wide = [piece.index.kind.rank for piece in pieces if isinstance(piece, Gather)]
    if any(wide):
        return _gather_wide(context, base, pieces, kind)
    for dim, piece in enumerate(pieces):
        if isinstance(piece, Along):
            _check_range(context, base, dim, piece)
            pieces[dim] = Gather(along_node(piece))
    indices = [piece.index for piece in pieces if isinstance(piece, Gather)]
    axes = merge_axes(base.axes, *(index.axes for index in indices))
    args = [base, *piece_nodes(pieces)]
    extents = [_extent(base, dim, p) for dim, p in enumerate(pieces) if not isinstance(p, Point | Gather)]
    return Node("gather", tuple(args), axes, kind, {"pieces": pieces, "extents": extents})


def _gather_wide(context: Context, base: Node, pieces: list[Piece], kind: Kind) -> Node:
    """An index that is a vector in each lane: its dimensions become those of the result, if it is the only one."""
    wide = [piece for piece in pieces if isinstance(piece, Gather) and piece.index.kind.rank]
    if len(wide) != 1 or not isinstance(pieces[-1], Gather | Whole):
        raise context.refuse("unsupported-value", "several index tensors in one subscript")
    position = pieces.index(wide[0])
    lead = pieces[:position]
    if any(isinstance(piece, Whole | Cut) for piece in lead) or any(
        not isinstance(p, Whole) for p in pieces[position + 1 :]
    ):
        raise context.refuse("unsupported-value", "an index tensor behind or before a slice")
    index = wide[0].index
    indices: list[Node] = []
    for dim, piece in enumerate(lead):
        if isinstance(piece, Along):
            _check_range(context, base, dim, piece)
            indices.append(along_node(piece))
        elif isinstance(piece, Gather):
            indices.append(piece.index)
        else:
            assert isinstance(piece, Point)
            indices.append(piece.at)
    axes = merge_axes(base.axes, index.axes, *(i.axes for i in indices))
    return Node("take", (base, *indices, index), axes, kind, {"lead": len(indices)})
