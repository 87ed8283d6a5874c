"""Reads by subscripts: views where subscripts are affine, gathers where they are not.

x[i]        i an axis, lo .. hi          x[lo:hi], its dimension labelled i
x[i - 1]    affine                       x[lo - 1:hi - 1]
x[i - 1:i + 2]                           x.unfold(...)[lo - 1:], window last
x[idx[i]]   not affine                   x[idx]
x[i, i], x[a[i], b[j]]                   x[arange, arange], advanced indexing
"""

from __future__ import annotations

from collections.abc import Callable

from looplift.ir.array import Axis, Node, ancestors, merge_axes
from looplift.ir.facts import Kind
from looplift.ir.grammar import Operand
from looplift.vectorize import devices, extents, nodes, segments, stencils
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.subscripts import (
    Along,
    Cut,
    Gather,
    New,
    Piece,
    Point,
    Segment,
    Steps,
    Tile,
    Whole,
    Window,
    extent_of,
    numbered,
    pieces_of,
)
from looplift.vectorize.unseen import check_seen


def read(context: Context, base: Node, index: Operand, kind: Kind) -> Val:
    """``base[index]`` in every lane; ``kind`` is that of one lane's result."""
    pieces = pieces_of(context, index, base.kind.rank, lambda dim: _known_extent(context, base, dim))
    pieces = _windows_apart(context, base, pieces)
    if any(isinstance(piece, Segment | Steps) for piece in pieces):
        return segments.read(context, base, pieces, kind)
    return Val(read_pieces(context, base, pieces, kind))


def _known_extent(context: Context, base: Node, dim: int) -> Node:
    """The extent of a dimension, of a product that of the factor which it comes from."""
    return (extents.lane_extents(context, base)[dim] if base.op == "matmul" else None) or extent_of(base, dim)


def _windows_apart(context: Context, base: Node, pieces: list[Piece]) -> list[Piece]:
    """A window that moves with the same loop as another subscript is read at its places: ``x[g, g * k:g * k + k]``."""
    walked = [piece.axis for piece in pieces if isinstance(piece, Along | Window)]
    if not any(isinstance(piece, Window) for piece in pieces) or len({*walked, *base.axes}) == len(
        walked + [*base.axes]
    ):
        return pieces
    made: list[Piece] = []
    for dim, piece in numbered(pieces):
        if isinstance(piece, Window):
            lo = along_node(Along(piece.axis, piece.coefficient, piece.base))
            index = segments.window_index(context, lo, piece.width, extent_of(base, dim))
            piece = Steps(index, piece.width)
        made.append(piece)
    return made


def read_pieces(context: Context, base: Node, pieces: list[Piece], kind: Kind) -> Node:
    if any(isinstance(piece, Tile) for piece in pieces):
        return _tiled(context, base, pieces, kind)
    pieces = [wrapped(base, dim, piece) for dim, piece in numbered(pieces)]
    is_sum = any(isinstance(piece, Gather) and not piece.index.kind.rank for piece in pieces)
    if is_sum or context.mask is not None:
        if (made := stencils.windows(context, base, pieces, kind)) is not None:
            return made
    if context.mask is not None:
        pieces = [_safe(context, base, dim, piece) for dim, piece in numbered(pieces)]
    along = [piece for piece in pieces if isinstance(piece, Along | Window)]
    axes = [piece.axis for piece in along]
    simple = not any(isinstance(piece, Gather | Steps) for piece in pieces)
    if not simple or len(set(axes)) < len(axes) or set(axes) & set(base.axes) or _implied(base, axes):
        return _gather(context, base, pieces, kind)
    for dim, piece in numbered(pieces):
        _check_range(context, base, dim, piece)
    extents = [_extent(base, dim, piece) for dim, piece in numbered(pieces) if not isinstance(piece, Point | Along)]
    result = merge_axes(base.axes, tuple(axes))
    attrs = {"pieces": pieces, "extents": extents}
    if sum(isinstance(piece, Window) for piece in pieces) == 2 and all(p.coefficient > 0 for p in along):
        attrs["tiles"] = _tiled(context, base, [_tile(piece) for piece in pieces], kind)
    return Node("slice", (base, *piece_nodes(pieces)), result, kind, attrs)


def _tiled(context: Context, base: Node, pieces: list[Piece], kind: Kind) -> Node:
    """Windows that walk by a step which is known when the loop runs: views, where each walks with a loop of its own."""
    tiles = [piece for piece in pieces if isinstance(piece, Tile)]
    rest: list[Piece] = [Whole() if isinstance(piece, Tile) else piece for piece in pieces]
    walked = [piece.axis for piece in tiles]
    met = {axis for piece in rest for axis in _axes_of(piece)} | set(base.axes)
    met |= {above for axis in met for above in ancestors(axis)}
    written = base.attrs.get("memory") or any(array.node is base for array in context.arrays.values())
    index_tensors = any(isinstance(piece, Gather) and piece.index.kind.rank for piece in rest)
    if written or index_tensors or context.mask is not None or met & set(walked) or len({*walked}) < len(walked):
        return read_pieces(context, base, [_steps(context, base, dim, p) for dim, p in numbered(pieces)], kind)
    kept = [piece for piece in pieces if not isinstance(piece, Point | Along | Gather)]
    node = base
    if not all(isinstance(piece, Whole) for piece in rest):
        node = read_pieces(context, base, rest, Kind(base.kind.family, base.kind.dtype, len(kept)))
    for dim, piece in enumerate(kept):
        if isinstance(piece, Tile):
            extents = [piece.width if k == dim else extent_of(node, k) for k in range(node.kind.rank)]
            operands = (node, piece.first, piece.axis.extent, piece.step, piece.width)
            attrs = {"dim": dim, "axis": piece.axis, "extents": extents}
            node = Node("tiles", operands, merge_axes(node.axes, (piece.axis,)), node.kind, attrs)
    node.kind = kind
    return node


def _tile(piece: Piece) -> Piece:
    if not isinstance(piece, Window):
        return piece
    lo = along_node(Along(piece.axis, piece.coefficient, piece.base))
    hi = nodes.elementwise("add", [lo, piece.width], nodes.INT)
    return Tile(piece.axis, piece.base, nodes.const(piece.coefficient), piece.width, (lo, hi))


def _steps(context: Context, base: Node, dim: int, piece: Piece) -> Piece:
    """A window of a step of its own as the places that it has in each lane."""
    if not isinstance(piece, Tile):
        return piece
    return Steps(segments.window_index(context, piece.bounds[0], piece.width, extent_of(base, dim)), piece.width)


def wrapped(base: Node, dim: int, piece: Piece) -> Piece:
    """Subscripts that surely count from the end as ones that count from the start; an index tensor where some do."""
    if not isinstance(piece, Along):
        return piece
    low, high = bounds_of(piece)
    if surely(high, nodes.const(-1)):
        return Along(piece.axis, piece.coefficient, nodes.plus(piece.base, extent_of(base, dim)))
    least = nodes.sample_of(nodes.lowest(low))
    return Gather(along_node(piece)) if least is not None and least < 0 else piece


def bounds_of(piece: Along | Window) -> tuple[Node, Node]:
    """The least and the greatest subscript."""
    last = nodes.plus(piece.base, nodes.times(nodes.minus(piece.axis.extent, nodes.const(1)), piece.coefficient))
    return (piece.base, last) if piece.coefficient > 0 else (last, piece.base)


def _implied(base: Node, axes: list[Axis]) -> bool:
    """Whether a ragged axis of the base already implies one of these."""
    return len(merge_axes(base.axes, tuple(axes))) < len(base.axes) + len(axes)


def _extent(base: Node, dim: int, piece: Piece) -> Node | None:
    match piece:
        case Whole():
            return extent_of(base, dim)
        case Window(width=width) | Steps(width=width):
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
            case Gather(index=index) | Segment(index=index) | Steps(index=index):
                found.append(index)
        if isinstance(piece, Window | Steps):
            found.append(piece.width)
    return tuple(found)


def _check_range(context: Context, base: Node, dim: int, piece: Piece) -> None:
    """What a slice would silently cut or wrap, and the loop would not."""
    match piece:
        case Along():
            width: Node = nodes.const(1)
        case Window(width=width):
            context.check_at_most(nodes.const(0), width)
        case _:
            return
    low, high = bounds_of(piece)
    context.check_at_most(nodes.const(0), low)
    context.check_at_most(nodes.plus(high, width), extent_of(base, dim))


def check_place(context: Context, piece: Piece, extent: Callable[[], Node]) -> None:
    """On a device, places that lanes choose are checked before they are read or written."""
    if isinstance(piece, Gather) and devices.checks_places(context.facts) and context.library == "torch":
        size = extent()
        context.check(nodes.compare("lt", piece.index, size))
        context.check(nodes.compare("ge", piece.index, nodes.minus(nodes.const(0), size)))


def _safe(context: Context, base: Node, dim: int, piece: Piece) -> Piece:
    """Under a mask, subscripts of lanes that do not run may be out of range: they read element 0 instead."""
    match piece:
        case Gather(index=index) if not index.kind.rank:
            return Gather(_masked_index(context, index))
        case Along():
            low, high = bounds_of(piece)
            last, extent = nodes.plus(high, nodes.const(1)), extent_of(base, dim)
            if surely(nodes.const(0), low) and surely(last, extent):
                return piece
            if surely(nodes.const(0), low) and (pair := nodes.equal_samples(nodes.minus(extent, last))) is not None:
                context.wanted_equal.add(pair)
            elif is_inside(context, piece, extent) and not (context.needs_grad and base.attrs.get("memory")):
                return piece  # of what is written to later, the backward pass needs a copy
            return Gather(_masked_index(context, along_node(piece)))
        case Window() if not is_inside(context, piece, extent_of(base, dim)):
            raise context.refuse("ragged-shape", "a slice that moves with the loop, under an 'if'")
        case Point(at=at) if not (at.op == "const" and at.attrs["value"] in (0, -1)):
            return piece
    return piece


def surely(small: Node, large: Node) -> bool:
    gap = nodes.constant_of(nodes.lowest(nodes.minus(large, small)))
    return gap is not None and gap >= 0


def is_inside(context: Context, piece: Along | Window, extent: Node) -> bool:
    """Whether all subscripts are places of a dimension: surely, as is required anyway, or at this call, so that it is
    worth a requirement."""
    low, high = bounds_of(piece)
    width = piece.width if isinstance(piece, Window) else nodes.const(1)
    pairs = ((nodes.const(0), low), (nodes.plus(high, width), extent))
    if all(surely(small, large) or context.is_required(small, large) for small, large in pairs):
        return True
    return all(nodes.is_likely_positive(nodes.lowest(nodes.minus(large, small))) for small, large in pairs)


def along_node(piece: Along) -> Node:
    """The subscript as lane values; ``piece.base`` is that of the first position."""
    return Node("along", (piece.base, piece.axis.extent), (piece.axis,), nodes.INT, {"coefficient": piece.coefficient})


def _masked_index(context: Context, index: Node) -> Node:
    assert context.mask is not None
    return context.select(context.mask, index, nodes.const(0), Kind("int"))


def _gather(context: Context, base: Node, pieces: list[Piece], kind: Kind) -> Node:
    """Advanced indexing: dimensions that lanes choose get index tensors, which broadcast against one another."""
    for dim, piece in numbered(pieces):
        _check_range(context, base, dim, piece)
        check_place(context, piece, lambda dim=dim: extent_of(base, dim))
    if not _is_taken(base, pieces):
        check_seen(context, pieces, lambda dim: extent_of(base, dim))
    if any(isinstance(piece, Steps) for piece in pieces):
        return _gather_windows(context, base, pieces, kind)
    first, rank = wide_place(context, pieces)
    pieces = [piece if _is_slice(base, pieces, piece) else _as_gather(piece) for piece in pieces]
    axes = merge_axes(base.axes, *(_axes_of(piece) for piece in pieces))
    kept = (Whole, Cut, New)
    sizes = [_extent(base, dim, piece) for dim, piece in numbered(pieces) if isinstance(piece, kept)]
    indices = [piece.index for piece in pieces if isinstance(piece, Gather) and piece.index.kind.rank]
    sizes[first:first] = extents.broadcast_extents(context, indices, rank)
    attrs = {"pieces": pieces, "wide": (first, rank), "extents": sizes}
    return Node("gather", (base, *piece_nodes(pieces)), axes, kind, attrs)


def _is_taken(base: Node, pieces: list[Piece]) -> bool:
    """Whether what is emitted looks at all places anyway: one index tensor, beside nothing."""
    return not base.axes and all(isinstance(piece, Whole | Gather) for piece in pieces) and (
        sum(isinstance(piece, Gather) for piece in pieces) == 1
    )  # fmt: skip


def _gather_windows(context: Context, base: Node, pieces: list[Piece], kind: Kind) -> Node:
    """Windows of one width that start where each lane chooses: their places are dimensions of the value."""
    if any(isinstance(piece, New) or (isinstance(piece, Gather) and piece.index.kind.rank) for piece in pieces):
        raise context.refuse("ragged-shape", "an index tensor beside a slice that starts elsewhere in each iteration")
    pieces = [_as_gather(piece) for piece in pieces]
    axes = merge_axes(base.axes, *(piece.index.axes for piece in pieces if isinstance(piece, Gather | Steps)))
    extents = [_extent(base, dim, piece) for dim, piece in enumerate(pieces) if not isinstance(piece, Point | Gather)]
    attrs = {"pieces": pieces, "extents": extents}
    return Node("windows", (base, *piece_nodes(pieces)), axes, kind, attrs)


def _axes_of(piece: Piece) -> tuple[Axis, ...]:
    match piece:
        case Along(axis=axis) | Window(axis=axis):
            return (axis,)
        case Gather(index=index):
            return index.axes
    return ()


def _is_slice(base: Node, pieces: list[Piece], piece: Piece) -> bool:
    """Whether an axis may walk a dimension by a slice, as nothing else of the subscript varies with it."""
    if not isinstance(piece, Along):
        return not isinstance(piece, Gather)
    others = [base.axes, *(_axes_of(other) for other in pieces if other is not piece)]
    taken = {axis for axes in others for axis in axes}
    taken |= {above for axis in taken for above in ancestors(axis)}
    return piece.coefficient > 0 and piece.axis not in taken


def _as_gather(piece: Piece) -> Piece:
    return Gather(along_node(piece)) if isinstance(piece, Along) else piece


def wide_place(context: Context, pieces: list[Piece]) -> tuple[int, int]:
    """Where in one lane's result the dimensions of its index tensors stand, and how many they are.

    They replace the dimensions that they index if these are neighbours, else they come first. torch takes single
    integers out before it asks that, NumPy counts them as index arrays.
    """
    rank = max((p.index.kind.rank for p in pieces if isinstance(p, Gather)), default=0)
    if not rank:
        return 0, 0
    advanced = (Gather, Along, Point) if context.library == "np" else ()
    marks = ["i" if isinstance(p, advanced) or (isinstance(p, Gather) and p.index.kind.rank) else "s"
             for p in pieces if isinstance(p, advanced) or _has_dimension(p)]  # fmt: skip
    first, last = marks.index("i"), len(marks) - marks[::-1].index("i")
    return (first if "s" not in marks[first:last] else 0), rank


def _has_dimension(piece: Piece) -> bool:
    return not isinstance(piece, Along | Point) and not (isinstance(piece, Gather) and not piece.index.kind.rank)
