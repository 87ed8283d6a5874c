"""Sums of products of windows and weights: convolutions, which need no copy of the windows."""

from __future__ import annotations

from typing import Any

from looplift.base.data import fields_of, replace
from looplift.ir.array import Axis, Node
from looplift.ir.facts import Kind
from looplift.optimize.contractions import factors_of
from looplift.optimize.pooling import windows_of


def convolution(node: Node) -> Node | None:
    """A contraction over windows of two dimensions, or of one and over channels."""
    if node.op != "contract" or any(node.attrs["lanes"]) or node.kind.family != "tensor":
        return None
    for windows, weights in (node.args, node.args[::-1]):
        source, reaches = _windows(windows)
        if reaches and _is_convolution(node, source, weights, reaches):
            return _made(node, source, weights, reaches)
    return None


def _windows(node: Node) -> tuple[Node, list[Node]]:
    """What windows are read from, and how, the first dimension first."""
    reaches: list[Node] = []
    while node.op == "stencil" and len(node.attrs["walked"]) == 2:
        reaches.insert(0, node)
        node = node.args[0]
    return node, reaches


def _taps(node: Node, reach: Node) -> tuple[Axis, Axis] | None:
    """The axis of the places and the one of the weights."""
    for place, tap in (reach.attrs["walked"], reach.attrs["walked"][::-1]):
        if place in node.axes and tap not in node.axes:
            return place, tap
    return None


def _is_convolution(node: Node, source: Node, weights: Node, reaches: list[Node]) -> bool:
    pairs = [_taps(node, reach) for reach in reaches]
    if weights.kind.rank or source.kind.rank != len(reaches) or len(reaches) > 2 or None in pairs:
        return False
    taps = [pair[1] for pair in pairs if pair is not None]
    places = [pair[0] for pair in pairs if pair is not None]
    channels = [axis for axis in source.axes if axis not in node.axes]
    fits = all(tap in weights.axes for tap in taps) and not any(place in weights.axes for place in places)
    fits = fits and all(axis in weights.axes for axis in channels)
    # of the rest, each axis is one of samples, of groups or of outputs
    known = {*source.axes, *taps, *(axis for axis in weights.axes if axis in node.axes)}
    return fits and set(weights.axes) <= known and (len(reaches) == 2 or bool(channels))


def _made(node: Node, source: Node, weights: Node, reaches: list[Node]) -> Node:
    pairs = [pair for reach in reaches if (pair := _taps(node, reach)) is not None]
    samples = tuple(axis for axis in source.axes if axis in node.axes and axis not in weights.axes)
    groups = tuple(axis for axis in source.axes if axis in node.axes and axis in weights.axes)
    channels = tuple(axis for axis in source.axes if axis not in node.axes)
    outputs = tuple(axis for axis in weights.axes if axis in node.axes and axis not in source.axes)
    swapped = [reach.attrs["walked"][0] is not place for reach, (place, _) in zip(reaches, pairs, strict=True)]
    attrs = {"samples": samples, "groups": groups, "channels": channels, "outputs": outputs, "pairs": pairs}
    attrs |= {"dims": _dims(reaches), "swapped": swapped}
    operands = tuple(arg for reach in reaches for arg in reach.args[1:])
    if (found := _picked(source, samples, groups, channels)) is not None:
        source, places, attrs["picked"] = found
        shared = _shared_by(places, groups, channels)
        attrs["grouped"] = shared is not None
        operands = (*operands, places if shared is None else shared)
    return Node("convolution", (source, weights, *operands), node.axes, node.kind, attrs, node.hint)


def _picked(
    source: Node, samples: tuple[Axis, ...], groups: tuple[Axis, ...], channels: tuple[Axis, ...]
) -> tuple[Node, Node, int] | None:
    """An array of which each output reads channels of its own; which they are, and their dimension in one sample."""
    if source.op != "gather" or len(groups) != 1 or len(channels) != 1 or source.args[0].axes:
        return None
    pieces = source.attrs["pieces"]
    kinds = [type(piece).__name__ for piece in pieces]
    if kinds.count("Gather") != 1 or "Whole" not in kinds or not set(kinds) <= {"Gather", "Along", "Point", *KEPT}:
        return None
    place = kinds.index("Gather")
    index, walked = pieces[place].index, [piece for piece in pieces if type(piece).__name__ == "Along"]
    if index.kind.rank or index.axes != (*groups, *channels) or {piece.axis for piece in walked} != set(samples):
        return None
    whole = pieces[kinds.index("Whole")]
    parts = [whole if k == place else piece for k, piece in enumerate(pieces)]
    operands = [part for k, piece in enumerate(pieces) if k != place for part in _integers_of(piece)]
    kind = replace(source.kind, rank=source.kind.rank + 1)
    array = Node("slice", (source.args[0], *operands), samples, kind, {"pieces": parts}, source.hint)
    return array, index, sum(kind in KEPT for kind in kinds[:place])


KEPT = ("Whole", "Cut")
"""What leaves a dimension of an array in place."""


def _integers_of(piece: Any) -> list[Node]:
    """The operands that say what a piece of a subscript picks."""
    found = [getattr(piece, name) for name in fields_of(piece)]
    return [one.extent if isinstance(one, Axis) else one for one in found if isinstance(one, Node | Axis)]


def _shared_by(places: Node, groups: tuple[Axis, ...], channels: tuple[Axis, ...]) -> Node | None:
    """How many outputs in a row read the same channels, where these are o // shared * channels + k; else None."""
    if not _is(places, "add", 2):
        return None
    for first, k in (places.args, places.args[::-1]):
        if not (_counts(k, channels[0]) and _is(first, "mul", 2)):
            continue
        for block, size in (first.args, first.args[::-1]):
            whole = size is channels[0].extent and _is(block, "floordiv", 2) and not block.args[1].axes
            if whole and _counts(block.args[0], groups[0]):
                return block.args[1]
    return None


def _is(node: Node, name: str, count: int) -> bool:
    """Whether integers of lanes are made by one operation of so many operands."""
    named = node.op == "elementwise" and node.kind.family == "int" and node.attrs["name"] == name
    return named and len(node.args) == count


def _counts(node: Node, axis: Axis) -> bool:
    """Whether a value is 0, 1, 2, ... along an axis."""
    begins = axis.lo.op == "const" and axis.lo.attrs["value"] == 0
    return node.op == "index" and node.attrs["axis"] is axis and axis.step == 1 and begins


def _dims(reaches: list[Node]) -> list[int]:
    """The dimension of the source that each window is read from: those before it are gone when it is."""
    left = list(range(len(reaches)))
    return [left.pop(reach.attrs["dim"]) for reach in reaches]


# ---------------------------------------------------------------- windows that are dimensions of a value


def windowed_sum(node: Node) -> Node | None:
    """The sum of all elements of a window, each times its weight."""
    if node.op != "fold" or node.attrs["name"] != "sum" or node.attrs["keepdim"] or node.attrs.get("decides"):
        return None
    product = node.args[0]
    rank = product.kind.rank
    if (
        len(node.args) != 1
        or product.kind.family != "tensor"
        or rank not in (2, 3)
        or sorted(node.attrs["dims"]) != list(range(-rank, 0))
    ):
        return None
    factors = factors_of(product)
    for windows, weights in (factors, factors[::-1]) if factors is not None else ():
        if windows.kind.rank == rank and (found := windows_of(windows)) is not None:
            return _with_taps(node, *found, weights, checked=windows.op == "slice")
    return None


def _with_taps(node: Node, source: Node, tiles: list[Node], weights: Node, *, checked: bool) -> Node | None:
    """The convolution: dimensions of channels and taps are axes. Windows that were not ``checked`` must be inside."""
    places = [tile.attrs["axis"] for tile in tiles]
    rank = source.kind.rank
    aligned = weights.kind.rank == rank or (not weights.axes and 0 < weights.kind.rank < rank)
    if set(places) & {*weights.axes, *source.axes} or not aligned or any(a.is_ragged for a in node.axes):
        return None
    widths = [tile.args[4] for tile in tiles]
    if any(width.op == "const" and width.attrs["value"] == 1 for width in widths):
        return None  # which is repeated as the weights are wide
    order = max((axis.order for axis in (*node.axes, *weights.axes)), default=0)
    one, zero = (Node("const", (), (), INT, {"value": value}) for value in (1, 0))
    extents = [*(_extent(source, dim) for dim in range(rank - 2)), *widths]
    made = [Axis(f"tap_{k}", order + 1 + k, extent, zero) for k, extent in enumerate(extents)]
    channels, taps = tuple(made[:-2]), made[-2:]
    kind = replace(weights.kind, rank=0)
    array = replace(source.kind, rank=2)
    reach = () if checked else (part for tile in tiles for part in tile.args[1:])
    rows = Node("as_axes", (source, *reach), (*source.axes, *channels), array, {}, source.hint)
    filters = Node("taps", (weights, *extents), (*weights.axes, *made), kind, {}, weights.hint)
    attrs = {
        "samples": tuple(axis for axis in source.axes if axis not in weights.axes),
        "groups": tuple(axis for axis in source.axes if axis in weights.axes), "channels": channels,
        "outputs": tuple(axis for axis in weights.axes if axis not in source.axes),
        "pairs": list(zip(places, taps, strict=True)), "dims": [0, 1], "swapped": [False, False],
    }  # fmt: skip
    operands = [part for tile, width in zip(tiles, widths, strict=True) for part in (*tile.args[1:4], width, one)]
    return Node("convolution", (rows, filters, *operands), node.axes, node.kind, attrs, node.hint)


INT = Kind("int")


def _extent(source: Node, dim: int) -> Node:
    given = source.attrs.get("extents")
    if given is not None and given[dim] is not None:
        return given[dim]
    attrs = {"dim": dim + len(source.axes), "key": f"#{source.serial}.{dim}"}
    return Node("extent", (source,), (), INT, attrs)
