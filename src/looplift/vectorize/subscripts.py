"""Subscripts in, one piece for each dimension out; the extents of values in lanes."""

from __future__ import annotations

from collections.abc import Callable

from looplift.base.data import dataclass
from looplift.ir.array import Axis, Node, merge_axes
from looplift.ir.facts import Kind, kind_of
from looplift.ir.grammar import Const, Group, Operand, Slice, Var, as_atom
from looplift.vectorize import nodes
from looplift.vectorize.context import Context, node_of
from looplift.vectorize.nodes import Affine


@dataclass(frozen=True)
class Whole:
    """``:``"""


@dataclass(frozen=True)
class Cut:
    """``lo:hi:step`` with bounds that no axis changes; absent ones are None."""

    lo: Node | None
    hi: Node | None
    step: Node | None


@dataclass(frozen=True)
class Point:
    """One integer, the same for all lanes."""

    at: Node


@dataclass(frozen=True)
class Along:
    """One integer that walks with one axis: ``coefficient * position + base``."""

    axis: Axis
    coefficient: int
    base: Node


@dataclass(frozen=True)
class Window:
    """``base + coefficient * position : ... + width``."""

    axis: Axis
    coefficient: int
    base: Node
    width: Node


@dataclass(frozen=True)
class Gather:
    """Integers that differ from lane to lane (or an index tensor, whose own dimensions stay)."""

    index: Node
    affine: Affine | None = None


@dataclass(frozen=True)
class Segment:
    """``lo:hi``, or where a mask holds, of another length in each lane: the entries of a ragged axis."""

    axis: Axis
    index: Node
    lo: Node | None = None
    hi: Node | None = None
    extent: Node | None = None
    mask: Node | None = None


@dataclass(frozen=True)
class Steps:
    """``lo:hi`` of one width in all lanes, its places in each of them."""

    index: Node
    width: Node


@dataclass(frozen=True)
class Tile:
    """``first + step * position : ... + width``, of a step and a width that are known when the loop runs."""

    axis: Axis
    first: Node
    step: Node
    width: Node
    bounds: tuple[Node, Node]


@dataclass(frozen=True)
class New:
    """``None``: a new dimension of extent one."""


def _segments():
    from looplift.vectorize import segments

    return segments


Piece = Whole | Cut | Point | Along | Window | Gather | Segment | Steps | Tile | New
Extents = Callable[[int], Node]


def pieces_of(
    context: Context,
    index: Operand,
    rank: int,
    extents: Extents | None = None,
    *,
    windows: bool = True,
    apart: bool = False,
) -> list[Piece]:
    """One piece for each dimension that the subscript speaks of, ``...`` and missing ones filled in.

    ``extents`` gives those of the dimensions, without which no slice may have another length in each lane. Without
    ``windows`` slices of one width are entries as well. Where slices are taken ``apart``, those that differ by lane
    are not inside of one another yet (``nested``).
    """
    if isinstance(index, Var) and context.facts.kind(index).family == "tuple":
        return _of_tuple(context, index, rank)
    items = list(index.items) if isinstance(index, Group) and index.kind == "tuple" else [index]
    dims = sum(not _is(item, None) and not _is(item, Ellipsis) for item in items)
    if any(_is(item, Ellipsis) for item in items):
        at = next(k for k, item in enumerate(items) if _is(item, Ellipsis))
        items[at : at + 1] = [Slice(Const(None), Const(None), Const(None))] * (rank - dims)
    else:
        items += [Slice(Const(None), Const(None), Const(None))] * (rank - dims)
    if sum(not _is(item, None) for item in items) != rank:
        raise context.refuse("unsupported-value", "a subscript with more indices than dimensions")
    pieces: list[Piece] = []
    dim = 0
    # of several slices those of one width in all lanes are a box; one alone may be cut off at the end of the array
    several = sum(isinstance(item, Slice) and not _is_whole(item) for item in items) > 1
    for item in items:
        here = None if extents is None or _is(item, None) else extents(dim)
        pieces.append(_piece(context, item, here, windows, several))
        dim += not _is(item, None)
    return pieces if apart else nested(context, pieces)


def _of_tuple(context: Context, index: Var, rank: int) -> list[Piece]:
    """Index tensors of a tuple that was made elsewhere, as by ``np.triu_indices``; the dimensions after them whole."""
    sample, node = context.facts[index].sample, context.node(index)
    kinds = [kind_of(item) for item in sample] if isinstance(sample, tuple) else []
    if node.op == "display" or not kinds or len(kinds) > rank:
        raise context.refuse("unsupported-value", "a tuple used as a subscript")
    if not all(kind.is_array and kind.rank == 1 and "int" in str(kind.dtype) for kind in kinds):
        raise context.refuse("unsupported-value", "a tuple used as a subscript, of other things than index tensors")
    parts = [Node("field", (node,), node.axes, kind, {"position": k}) for k, kind in enumerate(kinds)]
    return [*map(Gather, parts), *[Whole()] * (rank - len(kinds))]


def nested(context: Context, pieces: list[Piece]) -> list[Piece]:
    """Of several ragged dimensions each is inside of the one before, and the first there for the lanes of all."""
    found = [(k, piece) for k, piece in enumerate(pieces) if isinstance(piece, Segment)]
    if len(found) < 2:
        return pieces
    (place, first), *others = found
    outer = pieces[place] = _segments().for_all_lanes(context, first, [piece for _, piece in others])
    for place, piece in others:
        outer = pieces[place] = _segments().inside(context, piece, outer.axis)
    return pieces


def _is_mask(context: Context, operand: Operand) -> bool:
    """Whether a subscript is a vector of booleans that differs from lane to lane."""
    if isinstance(operand, Const | Slice) or not hasattr(operand, "name"):
        return False
    fact = context.facts[operand]  # type: ignore[index]
    return fact.kind.is_array and fact.kind.rank == 1 and "bool" in str(fact.kind.dtype)


def _is(item: Operand, value) -> bool:
    return isinstance(item, Const) and item.value is value


def _is_whole(item: Slice) -> bool:
    return _is(item.lo, None) and _is(item.hi, None)


def _piece(context: Context, item: Operand, extent: Node | None, windows: bool, several: bool) -> Piece:
    if isinstance(item, Slice):
        return _slice(context, item, extent, windows, several)
    if _is(item, None):
        return New()
    if isinstance(item, Group):
        return Gather(_listed(context, item))
    fact = context.facts[item]
    if extent is not None and _is_mask(context, item) and context.node(item).axes:
        return _segments().masked(context, context.node(item), extent)
    if fact.kind.family == "bool" or (fact.kind.is_array and "bool" in str(fact.kind.dtype)):
        raise context.refuse("ragged-shape", "a subscript by a mask: the number of elements is not known before")
    if fact.kind.family == "tensor" and str(fact.kind.dtype) == "torch.uint8" and context.library == "torch":
        raise context.refuse("ragged-shape", "a subscript of type uint8, which PyTorch takes for a mask")
    if fact.kind.is_array and fact.kind.rank:
        return Gather(context.node(item))
    if fact.kind.family != "int" and not fact.kind.is_array:
        raise context.refuse("unsupported-value", f"a {type(fact.sample).__name__} used as a subscript")
    affine = context.affine(item)
    if affine is None:
        return Gather(context.node(item))
    if not affine.terms:
        return Point(affine.base)
    if len(affine.terms) == 1 and not affine.terms[0][0].is_ragged:
        ((axis, coefficient),) = affine.terms
        return Along(axis, coefficient * axis.step, _start(axis, coefficient, affine.base))
    return Gather(node_of(affine), affine)


def _listed(context: Context, group: Group) -> Node:
    """A list of integers as an index tensor."""
    if not group.items or any(context.facts.kind(as_atom(item)).family != "int" for item in group.items):
        raise context.refuse("unsupported-value", "a list used as a subscript, of other things than integers")
    items = [context.node(as_atom(item)) for item in group.items]
    dtype = nodes.lane_dtype(nodes.INT)
    kind = Kind("array" if context.library == "np" else "tensor", dtype, 1)
    if all(item.op == "const" for item in items):
        return Node("vector", (), (), kind, {"values": [item.attrs["value"] for item in items]})
    parts = [nodes.cast(item, dtype) for item in items]
    return Node("join", tuple(parts), merge_axes(*(p.axes for p in parts)), kind, {"join": "stack", "dim": -1})


def _start(axis: Axis, coefficient: int, base: Node) -> Node:
    """The subscript at the first position of an axis."""
    return nodes.plus(nodes.times(axis.lo, coefficient), base)


def _slice(context: Context, item: Slice, extent: Node | None, windows: bool, several: bool) -> Piece:
    bounds = [None if _is(part, None) else context.affine(part) for part in (item.lo, item.hi, item.step)]
    given = [not _is(part, None) for part in (item.lo, item.hi, item.step)]
    if not any(given):
        return Whole()
    if all(b is not None or not g for g, b in zip(given, bounds, strict=True)):
        if all(b is None or not b.terms for b in bounds):
            return Cut(*(b.base if b is not None else None for b in bounds))
    if extent is None:
        raise context.refuse("ragged-shape", "the bounds of a slice differ from lane to lane, and so does its length")
    if given[2] and not _is(item.step, 1):
        raise context.refuse("ragged-shape", "a slice with a step, whose length differs from lane to lane")
    lo, hi = bounds[:2]
    if lo is None or hi is None or lo.terms != hi.terms or len(lo.terms) != 1 or lo.terms[0][0].is_ragged:
        return _segments().sliced(context, item, extent, windows, several)
    if not windows:
        return _segments().sliced(context, item, extent, windows, several)
    ((axis, coefficient),) = lo.terms
    width = nodes.minus(hi.base, lo.base)
    return Window(axis, coefficient * axis.step, _start(axis, coefficient, lo.base), width)


def numbered(pieces: list[Piece]) -> list[tuple[int, Piece]]:
    """Each piece with the dimension that it is about; a new dimension is about none, and has the next one's number."""
    found: list[tuple[int, Piece]] = []
    dim = 0
    for piece in pieces:
        found.append((dim, piece))
        dim += not isinstance(piece, New)
    return found


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
