"""Reads and stores by subscripts: views where subscripts are affine, gathers and scatters where they are not.

x[i]        i an axis, lo .. hi          x[lo:hi], its dimension labelled i
x[i - 1]    affine                       x[lo - 1:hi - 1]
x[i - 1:i + 2]                           x.unfold(...)[lo - 1:], window last
x[idx[i]]   not affine                   x[idx]
x[i, i], x[a[i], b[j]]                   x[arange, arange], advanced indexing
"""

from __future__ import annotations

from dataclasses import dataclass

from looplift.ir.array import Axis, Node, Write, merge_axes
from looplift.ir.facts import Kind
from looplift.ir.grammar import Const, Group, Operand, Slice
from looplift.vectorize import nodes
from looplift.vectorize.context import Array, Context, node_of
from looplift.vectorize.nodes import Affine, Val


@dataclass(frozen=True, slots=True)
class Whole:
    """``:``"""


@dataclass(frozen=True, slots=True)
class Cut:
    """``lo:hi:step`` with bounds that no axis changes; absent ones are None."""

    lo: Node | None
    hi: Node | None
    step: Node | None


@dataclass(frozen=True, slots=True)
class Point:
    """One integer, the same for all lanes."""

    at: Node


@dataclass(frozen=True, slots=True)
class Along:
    """One integer that walks with one axis: ``coefficient * position + base``."""

    axis: Axis
    coefficient: int
    base: Node


@dataclass(frozen=True, slots=True)
class Window:
    """``base + coefficient * position : ... + width``."""

    axis: Axis
    coefficient: int
    base: Node
    width: Node


@dataclass(frozen=True, slots=True)
class Gather:
    """Integers that differ from lane to lane (or an index tensor, whose own dimensions stay)."""

    index: Node
    affine: Affine | None = None


@dataclass(frozen=True, slots=True)
class New:
    """``None``: a new dimension of extent one."""


Piece = Whole | Cut | Point | Along | Window | Gather | New


# ---------------------------------------------------------------- subscripts


def pieces_of(context: Context, index: Operand, rank: int) -> list[Piece]:
    """One piece for each dimension that the subscript speaks of, ``...`` and missing ones filled in."""
    items = list(index.items) if isinstance(index, Group) and index.kind == "tuple" else [index]
    dims = sum(not _is(item, None) and not _is(item, Ellipsis) for item in items)
    if any(_is(item, Ellipsis) for item in items):
        at = next(k for k, item in enumerate(items) if _is(item, Ellipsis))
        items[at : at + 1] = [Slice(Const(None), Const(None), Const(None))] * (rank - dims)
    else:
        items += [Slice(Const(None), Const(None), Const(None))] * (rank - dims)
    if sum(not _is(item, None) for item in items) != rank:
        raise context.refuse("unsupported-value", "a subscript with more indices than dimensions")
    return [_piece(context, item) for item in items]


def _is(item: Operand, value) -> bool:
    return isinstance(item, Const) and item.value is value


def _piece(context: Context, item: Operand) -> Piece:
    if isinstance(item, Slice):
        return _slice(context, item)
    if _is(item, None):
        return New()
    if isinstance(item, Group):
        raise context.refuse("unsupported-value", "a list used as a subscript")
    fact = context.facts[item]
    if fact.kind.family == "bool" or (fact.kind.is_array and "bool" in str(fact.kind.dtype)):
        raise context.refuse("ragged-shape", "a subscript by a mask: the number of elements is not known before")
    if fact.kind.is_array and fact.kind.rank:
        return Gather(context.node(item))
    affine = context.affine(item)
    if affine is None:
        return Gather(context.node(item))
    if not affine.terms:
        return Point(affine.base)
    if len(affine.terms) == 1 and not affine.terms[0][0].is_ragged:
        ((axis, coefficient),) = affine.terms
        return Along(axis, coefficient * axis.step, _start(axis, coefficient, affine.base))
    return Gather(node_of(affine), affine)


def _start(axis: Axis, coefficient: int, base: Node) -> Node:
    """The subscript at the first position of an axis."""
    return nodes.plus(nodes.times(axis.lo, coefficient), base)


def _slice(context: Context, item: Slice) -> Piece:
    bounds = [None if _is(part, None) else context.affine(part) for part in (item.lo, item.hi, item.step)]
    given = [not _is(part, None) for part in (item.lo, item.hi, item.step)]
    if not any(given):
        return Whole()
    if any(g and b is None for g, b in zip(given, bounds, strict=True)):
        raise context.refuse("ragged-shape", "the bounds of a slice differ from lane to lane, and so does its length")
    if all(b is None or not b.terms for b in bounds):
        return Cut(*(b.base if b is not None else None for b in bounds))
    lo, hi, step = bounds
    if lo is None or hi is None or step is not None or lo.terms != hi.terms or len(lo.terms) != 1:
        raise context.refuse("ragged-shape", "the length of a slice differs from lane to lane")
    ((axis, coefficient),) = lo.terms
    if axis.is_ragged:
        raise context.refuse("ragged-shape", "a slice that moves with a ragged loop")
    width = nodes.minus(hi.base, lo.base)
    return Window(axis, coefficient * axis.step, _start(axis, coefficient, lo.base), width)


# ---------------------------------------------------------------- sizes


def extent_of(node: Node, dim: int) -> Node:
    """The extent of one lane dimension of a value, as an integer that no axis changes."""
    known = node.attrs.get("extents")
    if known is not None and known[dim] is not None:
        return known[dim]
    if node.op == "name" and not node.axes:
        if node.attrs.get("is_list"):
            return Node("length", (node,), (), nodes.INT, {"key": f"len({node.attrs['text']})"})
        return _parameter_extent(node, dim)
    return Node("extent", (node,), (), nodes.INT, {"dim": dim + len(node.axes), "key": f"#{node.serial}.{dim}"})


def _parameter_extent(node: Node, dim: int) -> Node:
    """An extent of a live-in; of extents that the variant guards to be equal, one stands for all."""
    node, dim = node.attrs.get("equal", {}).get(dim, (node, dim))
    attrs = {"dim": dim, "key": f"{node.attrs['text']}.shape[{dim}]"}
    if "shape" in node.attrs:
        attrs["sample"] = node.attrs["shape"][dim]
    return Node("extent", (node,), (), nodes.INT, attrs)


# ---------------------------------------------------------------- reads


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
    return Node("slice", (base, *_piece_nodes(pieces)), result, kind, {"pieces": pieces, "extents": extents})


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


def _piece_nodes(pieces: list[Piece]) -> tuple[Node, ...]:
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
            if _surely(nodes.const(0), low) and _surely(nodes.plus(high, nodes.const(1)), extent_of(base, dim)):
                return piece
            return Gather(_masked_index(context, _along_node(piece)))
        case Window():
            raise context.refuse("ragged-shape", "a slice that moves with the loop, under an 'if'")
        case Point(at=at) if not (at.op == "const" and at.attrs["value"] in (0, -1)):
            return piece
    return piece


def _surely(small: Node, large: Node) -> bool:
    gap = nodes.constant_of(nodes.minus(large, small))
    return gap is not None and gap >= 0


def _along_node(piece: Along) -> Node:
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
            pieces[dim] = Gather(_along_node(piece))
    indices = [piece.index for piece in pieces if isinstance(piece, Gather)]
    axes = merge_axes(base.axes, *(index.axes for index in indices))
    args = [base, *_piece_nodes(pieces)]
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
            indices.append(_along_node(piece))
        elif isinstance(piece, Gather):
            indices.append(piece.index)
        else:
            assert isinstance(piece, Point)
            indices.append(piece.at)
    axes = merge_axes(base.axes, index.axes, *(i.axes for i in indices))
    return Node("take", (base, *indices, index), axes, kind, {"lead": len(indices)})


# ---------------------------------------------------------------- stores


def store(context: Context, array: Array, index: Operand, value: Node, combine: str | None) -> None:
    """``array[index] = value`` (or ``combine=``) in every active lane."""
    pieces = pieces_of(context, index, array.kind.rank)
    if any(isinstance(piece, Window | New) for piece in pieces):
        raise context.refuse("order", "a store into a slice that moves with the loop")
    walked = [piece.axis for piece in pieces if isinstance(piece, Along)]
    inside = context.axes_inside(array.axes)
    free = [axis for axis in inside if axis not in walked]
    injective = (
        len(set(walked)) == len(walked)
        and not any(isinstance(p, Gather) for p in pieces)
        and not (set(walked) & set(array.axes))
    )
    if injective and not free:
        _store_slices(context, array, pieces, value, combine)
    elif injective and combine is None and context.mask is None:
        _store_slices(context, array, pieces, _last(context, value, free), None)
    else:
        _scatter(context, array, pieces, value, combine)


def _last(context: Context, value: Node, free: list[Axis]) -> Node:
    """The value of the last iteration over axes that the store does not speak of."""
    for axis in free:
        if axis.is_ragged or (value.axes and any(axis in _line(a) for a in value.axes if a is not axis)):
            raise context.refuse("order", "several iterations of a ragged loop write to one place")
        if axis in value.axes:
            rest = tuple(a for a in value.axes if a is not axis)
            value = Node("last", (value,), rest, value.kind, {"axis": axis})
    return value


def _line(axis: Axis):
    from looplift.ir.array import ancestors

    return set(ancestors(axis))


def _covers(array: Array, pieces: list[Piece]) -> bool:
    """Whether the pieces cover the whole array."""
    for dim, piece in enumerate(pieces):
        match piece:
            case Whole():
                continue
            case Along(axis=axis, coefficient=1, base=start):
                if not nodes.is_const(start, 0) or not nodes.same_integer(axis.extent, array.shape[dim]):
                    return False
            case _:
                return False
    return True


def _store_slices(context: Context, array: Array, pieces: list[Piece], value: Node, combine: str | None) -> None:
    for dim, piece in enumerate(pieces):
        _check_store_range(context, array, dim, piece)
    lane_kind = Kind(array.kind.family, array.kind.dtype, sum(isinstance(p, Whole | Cut) for p in pieces))
    replaces = array.fresh and not array.written and _covers(array, pieces) and not context.serial_loops
    if replaces and (context.mask is not None or combine is not None):
        value, combine = _updated(context, array, pieces, value, combine, lane_kind), None
    if replaces:
        axes = [p.axis for p in pieces if isinstance(p, Along)]
        attrs = {"pieces": pieces, "axes": axes, "extents": list(array.shape), "shape": array.shape}
        array.node = Node("assemble", (value,), array.axes, array.kind, attrs, array.var.hint)
        return
    if combine is not None or context.mask is not None:
        value = _updated(context, array, pieces, value, combine, lane_kind)
    _write(context, array, pieces, value, "set")


def _updated(context: Context, array: Array, pieces: list[Piece], value: Node, combine: str | None, kind: Kind) -> Node:
    """What is stored when the present value takes part: ``+=``, or lanes that do not store."""
    old = read_pieces_unchecked(array.node, pieces, kind)
    if combine is not None:
        value = context_combine(context, combine, old, value, kind)
    return value if context.mask is None else context.select(context.mask, _stored(value, kind), old, kind)


def _stored(value: Node, kind: Kind) -> Node:
    """A value in the dtype of the array."""
    if nodes.lane_dtype(value.kind) == kind.dtype or (value.kind.is_number and not value.axes):
        return value
    return nodes.cast(value, kind.dtype)


def read_pieces_unchecked(base: Node, pieces: list[Piece], kind: Kind) -> Node:
    axes = tuple(p.axis for p in pieces if isinstance(p, Along))
    return Node("slice", (base, *_piece_nodes(pieces)), merge_axes(base.axes, axes), kind, {"pieces": pieces})


def context_combine(context: Context, combine: str, old: Node, value: Node, kind: Kind) -> Node:
    """``old`` combined with ``value`` as ``x[i] += v`` does it: in their common dtype, kept in that of the array."""
    from looplift.vectorize.operations import arithmetic, common_kind

    wide = common_kind(context, [old, value], kind)
    node = arithmetic(context, combine, [old, value], wide)
    return node if wide.dtype == kind.dtype else nodes.cast(node, kind.dtype)


def _check_store_range(context: Context, array: Array, dim: int, piece: Piece) -> None:
    if isinstance(piece, Along):
        last = nodes.plus(piece.base, nodes.times(nodes.minus(piece.axis.extent, nodes.const(1)), piece.coefficient))
        low, high = (piece.base, last) if piece.coefficient > 0 else (last, piece.base)
        if context.mask is not None and not (
            _surely(nodes.const(0), low) and _surely(nodes.plus(high, nodes.const(1)), array.shape[dim])
        ):
            raise context.refuse("order", "a store under an 'if' to a place that may be outside of the array")
        context.check_at_most(nodes.const(0), low)
        context.check_at_most(nodes.plus(high, nodes.const(1)), array.shape[dim])


def _write(context: Context, array: Array, pieces: list[Piece], value: Node, mode: str) -> None:
    bind(context, array)
    operands = (value, *_piece_nodes(pieces))
    context.add(Write(array.name, array.node, mode, operands, {"pieces": pieces, "mask": None}))


def bind(context: Context, array: Array) -> None:
    """Give the array a name, so that it can be written in place."""
    if array.written:
        return
    if array.node.op != "name":
        from looplift.ir.array import Assign

        array.name = context.fresh_name(array.var.hint)
        context.add(Assign(array.name, array.node))
        attrs = {"text": array.name, "extents": list(array.shape), "memory": True, "key": f"{array.name}#"}
        array.node = Node("name", (), array.node.axes, array.kind, attrs, array.name)
    else:
        array.name = array.node.attrs["text"]
        array.node.attrs["memory"] = True
    array.written = True


def _scatter(context: Context, array: Array, pieces: list[Piece], value: Node, combine: str | None) -> None:
    """Stores whose places may repeat: accumulate, or let the last writer win."""
    if combine not in (None, "add", "sub"):
        raise context.refuse("order", f"'{combine}=' into places that may repeat")
    if any(isinstance(p, Gather) and p.index.kind.rank for p in pieces):
        raise context.refuse("order", "a store through an index tensor in each iteration")
    if combine == "sub":
        value = nodes.elementwise("neg", [value], value.kind)
    for dim, piece in enumerate(pieces):
        _check_store_range(context, array, dim, piece)
    pieces = [Gather(_along_node(p)) if isinstance(p, Along) else p for p in pieces]
    lead = [p for p in pieces if not isinstance(p, Whole)]
    if any(isinstance(p, Cut) for p in pieces) or pieces[: len(lead)] != lead:
        raise context.refuse("order", "a store into a slice whose place may repeat")
    bind(context, array)
    indices = tuple(p.index if isinstance(p, Gather) else p.at for p in lead if isinstance(p, Gather | Point))
    axes = merge_axes(array.axes, context.active_axes())
    mask = (context.mask,) if context.mask is not None else ()
    if mask and context.needs_grad:
        context.check_some(mask[0])
    mode = "add" if combine else "last"
    operands = (value, *indices, *mask)
    render = {"axes": axes, "array_axes": array.axes, "count": len(indices), "masked": bool(mask)}
    context.add(Write(array.name, array.node, mode, operands, {**render, "dtype": array.kind.dtype}))
