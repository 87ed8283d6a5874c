"""Forms of NumPy's functions that move, pick, pad and join elements: see ``array_forms``."""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Node
from looplift.ir.facts import Kind
from looplift.vectorize import nodes
from looplift.vectorize.array_forms import (
    UNKNOWN,
    Call,
    Form,
    Made,
    constant,
    is_array,
    is_integer,
    is_shared,
    negative_axis,
    reordered,
    sizes_of,
    tree,
    with_dims,
)
from looplift.vectorize.subscripts import Gather, Piece, Point, Whole, extent_of

# ---------------------------------------------------------------- dimensions


def moved_axis(call: Call) -> Made:
    x, rank = call.first, call.first.kind.rank
    given = [call.const(name, UNKNOWN) for name in ("source", "destination")]
    sides = [[one] if type(one) is int else one for one in given]
    if any(not isinstance(side, list | tuple) for side in sides) or len(sides[0]) != len(sides[1]):
        return None
    pairs = [[negative_axis(one, rank) for one in side] for side in sides]
    if any(None in side or len(set(side)) < len(side) for side in pairs):
        return None
    source, destination = ([rank + one for one in side if one is not None] for side in pairs)
    order = [k for k in range(rank) if k not in source]
    for to, origin in sorted(zip(destination, source, strict=True)):
        order.insert(to, origin)
    return reordered(call, x, order)


def _swapped(call: Call) -> Made:
    x, rank = call.first, call.first.kind.rank
    one, other = (negative_axis(call.const(name, UNKNOWN), rank) for name in ("axis1", "axis2"))
    if one is None or other is None:
        return None
    order = list(range(rank))
    order[one], order[other] = order[other], order[one]
    return reordered(call, x, order)


def _transposed(call: Call) -> Made:
    """``x.transpose(1, 0)``, ``np.transpose(x, (1, 0))``, or without dimensions all of them in the other order."""
    x, rank = call.first, call.first.kind.rank
    given = [constant(value) for value in list(call.given.values())[1:]]
    if given and isinstance(given[0], list | tuple):
        given = list(given[0])
    if not given or given == [None]:
        return reordered(call, x, list(range(rank))[::-1])
    order = [negative_axis(one, rank) for one in given]
    if None in order or len(set(order)) != rank:
        return None
    return reordered(call, x, [rank + one for one in order if one is not None])


def _matrix_transposed(call: Call) -> Made:
    rank = call.first.kind.rank
    return reordered(call, call.first, [*range(rank - 2), rank - 1, rank - 2]) if rank >= 2 else None


def _expanded(call: Call) -> Made:
    x, axes = call.first, call.const("axis", UNKNOWN)
    if not isinstance(axes, tuple | list) or not all(type(axis) is int for axis in axes):
        return None
    rank = x.kind.rank + len(axes)
    dims = sorted(axis % rank for axis in axes)
    if len(set(dims)) < len(dims):
        return None
    for dim in dims:
        x = with_dims(x, dim - x.kind.rank - 1)
    return x


def _at_least(call: Call) -> Made:
    x, least = call.first, int(call.name[-2])
    if len(call.given) > 1:
        return None
    rank = x.kind.rank
    if rank >= least:
        return x
    if least == 3:
        return with_dims(x, *{0: (-1, -1, -1), 1: (-2, -1), 2: (-1,)}[rank])
    return with_dims(x, *[-rank - 1 - k for k in range(least - rank)])


def _squeezed(call: Call) -> Made:
    """Dimensions of extent one are left out, which they are of in every call of the variant."""
    x, rank = call.first, call.first.kind.rank
    axis = call.const("axis")
    extents = [extent_of(x, dim) for dim in range(rank)]
    if axis is None:
        sure, unsure = ([dim for dim, e in enumerate(extents) if nodes.sample_of(e) == n] for n in (1, None))
        gone = sure if rank - len(sure) == call.fact.kind.rank else sorted(sure + unsure)
        if rank - len(gone) != call.fact.kind.rank:
            return None
        for dim, extent in enumerate(extents):
            call.context.check(nodes.compare("eq" if dim in gone else "ne", extent, nodes.const(1)))
    else:
        found = [negative_axis(one, rank) for one in (axis if isinstance(axis, tuple | list) else [axis])]
        if None in found:
            return None
        gone = [rank + one for one in found if one is not None]
        for dim in gone:
            call.context.check(nodes.compare("eq", extents[dim], nodes.const(1)))
    if not gone:
        return x
    text = f"{{x!}}.squeeze({tuple(dim - rank for dim in gone)})"
    kept = [extent for dim, extent in enumerate(extents) if dim not in gone]
    return call.made(text, {"x": x}, view=True, extents=kept)


# ---------------------------------------------------------------- order along dimensions


def _flipped(call: Call) -> Made:
    x, rank = call.first, call.first.kind.rank
    match call.name.rpartition(".")[2]:
        case "fliplr":
            axes: Any = (1 - rank,) if rank >= 2 else None
        case "flipud":
            axes = (-rank,)
        case _:
            given = call.const("axis")
            given = tuple(range(rank)) if given is None else given
            axes = tuple(negative_axis(one, rank) for one in (given if isinstance(given, tuple | list) else (given,)))
    if axes is None or None in axes or not rank:
        return None
    return call.made(f"np.flip({{x}}, {axes[0] if len(axes) == 1 else axes})", {"x": x}, view=True,
                     extents=x.attrs.get("extents"))  # fmt: skip


def _turned(call: Call) -> Made:
    """``rot90`` of a matrix."""
    times = call.const("k", 1)
    if call.first.kind.rank != 2 or type(times) is not int:
        return None
    return call.made(f"np.rot90({{x}}, {times}, axes=(-2, -1))", {"x": call.first}, view=True)


def _rolled(call: Call) -> Made:
    """All elements in a row, of an array of several dimensions."""
    x, shift = call.first, call.get("shift")
    if call.get("axis") is not None or x.kind.rank < 2 or not is_integer(shift):
        return None
    text = "np.roll({x!}.reshape({x!}.shape[:{lead}] + (-1,)), {s}, axis=-1).reshape({x!}.shape)"
    return call.made(text, {"x": x, "s": shift}, extents=x.attrs.get("extents"))


def _cumulated(call: Call) -> Made:
    """Along the last dimension of all elements in a row, where no dimension is given."""
    x, base = call.first, call.name.rpartition(".")[2]
    axis = call.const("axis")
    if axis is not None or not x.kind.rank or (x.kind.rank == 1 and base in ("cumsum", "cumprod", "nancumsum")):
        one = negative_axis(axis, x.kind.rank)
        base = {"cumulative_sum": "cumsum", "cumulative_prod": "cumprod"}.get(base, "")
        return call.made(f"np.{base}({{x}}, axis={one})", {"x": x}) if one is not None and base else None
    base = {"cumulative_sum": "cumsum", "cumulative_prod": "cumprod"}.get(base, base)
    flat = "{x!}.reshape({x!}.shape[:{lead}] + (-1,))" if x.kind.rank > 1 else "{x}"
    return call.made(f"np.{base}({flat}, axis=-1)", {"x": x})


def _differences(call: Call) -> Made:
    return call.made("np.diff({x}, axis=-1)", {"x": call.first}) if call.first.kind.rank == 1 else None


def _lexsorted(call: Call) -> Made:
    keys = call.get("keys")
    if not isinstance(keys, list) or not keys or not all(is_array(key, 1) for key in keys):
        return None
    inner = ", ".join(f"{{k{k}}}" for k in range(len(keys)))
    return call.made(f"np.lexsort(({inner},), axis=-1)", {f"k{k}": key for k, key in enumerate(keys)}, full=True)


# ---------------------------------------------------------------- items


def _indices(call: Call, value: Any) -> Piece | None:
    """What a dimension is picked by: integers, as a subscript would take them."""
    value = tree(value)
    if isinstance(value, list):
        numbers = constant(value)
        if numbers is UNKNOWN or not numbers or not all(type(number) is int for number in numbers):
            return None
        return Gather(Node("vector", (), (), Kind("array", nodes.lane_dtype(nodes.INT), 1), {"values": numbers}))
    if value.kind.family == "int":
        return Gather(value) if value.axes else Point(value)
    if not value.kind.is_array or "int" not in str(value.kind.dtype):
        return None
    return Gather(value) if value.axes or value.kind.rank else None


def _taken(call: Call) -> Made:
    from looplift.vectorize.indexing import read_pieces

    x, rank = call.first, call.first.kind.rank
    axis = negative_axis(call.const("axis", 0 if rank == 1 else UNKNOWN), rank)
    piece = None if axis is None or "indices" not in call.given else _indices(call, call.get("indices"))
    if axis is None or piece is None or call.const("axis", 0) is None:
        return None
    pieces: list[Piece] = [Whole() for _ in range(rank)]
    pieces[axis] = piece
    inside = piece.index.kind.rank if isinstance(piece, Gather) else 0
    if inside > 1 or (isinstance(piece, Gather) and inside and axis + rank and rank > 1 and piece.index.axes):
        return None
    return read_pieces(call.context, x, pieces, call.fact.kind)


def _taken_along(call: Call) -> Made:
    x, places = call.first, call.get("indices")
    rank = x.kind.rank
    axis = negative_axis(call.const("axis", -1), rank)
    if axis is None or not is_array(places, rank) or "int" not in str(places.kind.dtype):
        return None
    text = f"np.take_along_axis({{x}}, {{i}}, axis={axis})"
    extents = places.attrs.get("extents") if rank == 1 else None
    return call.made(text, {"x": x, "i": places}, full=True, extents=extents)


def _diagonal(call: Call) -> Made:
    x, k = call.first, call.const("k", call.const("offset", 0))
    base = call.name.rpartition(".")[2]
    if type(k) is not int:
        return None
    if x.kind.rank == 2 and base == "trace":
        return call.made(f"np.trace({{x}}, {k}, axis1=-2, axis2=-1)", {"x": x})
    if x.kind.rank == 2 and base in ("diag", "diagonal"):
        return call.made(f"np.diagonal({{x}}, {k}, axis1=-2, axis2=-1)", {"x": x}, view=True)
    if x.kind.rank == 1 and base in ("diag", "diagflat"):
        return call.made(f"diagonal_matrices({{x}}, {k})", {"x": x}, need=["diagonal_matrices"])
    return None


def _tiled(call: Call) -> Made:
    x, counts = call.first, sizes_of(call.get("reps", nodes.const(None)))
    if counts is None or len(counts) < 2 or x.kind.rank == 0:
        return None
    if len(counts) > x.kind.rank:
        x = with_dims(x, *[-x.kind.rank - 1 - k for k in range(len(counts) - x.kind.rank)])
    inner = ", ".join(f"{{r{k}}}" for k in range(len(counts)))
    return call.made(f"np.tile({{x}}, ({inner},))", {"x": x} | {f"r{k}": count for k, count in enumerate(counts)})


def _padded(call: Call) -> Made:
    """Nothing is put around the dimensions of lanes."""
    x, rank = call.first, call.first.kind.rank
    mode = call.const("mode", "constant")
    pairs = None if "pad_width" not in call.given else _widths(tree(call.get("pad_width")), rank)
    if pairs is None or mode not in ("constant", "edge", "reflect", "symmetric", "wrap") or not rank:
        return None
    operands: dict[str, Node] = {"x": x}
    texts = []
    for k, pair in enumerate(pairs):
        for side, width in zip("lh", pair, strict=True):
            operands[f"{side}{k}"] = width
        texts.append(f"({{l{k}}}, {{h{k}}})")
    extra = "" if mode == "constant" else f', mode="{mode}"'
    if "constant_values" in call.given:
        value = call.get("constant_values")
        if mode != "constant" or not is_shared(value) or not value.kind.is_number:
            return None
        operands["c"], extra = value, ", constant_values={c}"
    text = f"np.pad({{x}}, [*[(0, 0)] * {{lead}}, {', '.join(texts)}]{extra})"
    return call.made(text, operands)


def _widths(given: Any, rank: int) -> list[tuple[Node, Node]] | None:
    """The widths before and after each dimension."""
    if is_integer(given):
        return [(given, given)] * rank
    if not isinstance(given, list):
        return None
    if len(given) == 1 and isinstance(given[0], list):
        given = given[0]
    if all(is_integer(one) for one in given):
        return [tuple(given)] * rank if len(given) == 2 else [(given[0], given[0])] * rank if len(given) == 1 else None
    if len(given) != rank or any(not isinstance(pair, list) or len(pair) != 2 for pair in given):
        return None
    return [tuple(pair) for pair in given] if all(is_integer(one) for pair in given for one in pair) else None


FORMS: dict[str, tuple[str, Form]] = {
    "moveaxis": ("a source destination", moved_axis), "swapaxes": ("a axis1 axis2", _swapped),
    "transpose": ("a axes d1 d2 d3", _transposed), "matrix_transpose": ("x", _matrix_transposed),
    "linalg.matrix_transpose": ("x", _matrix_transposed), "expand_dims": ("a axis", _expanded),
    "atleast_1d": ("a", _at_least), "atleast_2d": ("a", _at_least), "atleast_3d": ("a", _at_least),
    "squeeze": ("a axis", _squeezed),
    "flip": ("m axis", _flipped), "fliplr": ("m", _flipped), "flipud": ("m", _flipped), "rot90": ("m k", _turned),
    "roll": ("a shift axis", _rolled),
    **dict.fromkeys(("cumsum", "cumprod", "nancumsum", "nancumprod"), ("a axis", _cumulated)),
    **dict.fromkeys(("cumulative_sum", "cumulative_prod"), ("a axis", _cumulated)),
    "ediff1d": ("ary", _differences), "lexsort": ("keys", _lexsorted),
    "take": ("a indices axis", _taken), "take_along_axis": ("a indices axis", _taken_along),
    "diag": ("v k", _diagonal), "diagflat": ("v k", _diagonal), "diagonal": ("a offset", _diagonal),
    "trace": ("a offset", _diagonal), "tile": ("A reps", _tiled),
    "pad": ("array pad_width mode constant_values", _padded),
}  # fmt: skip
