"""Folds of the entries that each lane takes from a row, as folds of whole rows.

x[i][ok[i]].sum()       torch.where(ok, x, 0).sum(-1)
x[: i + 1].sum()        x.cumsum(0)[i]
x[i:].max()             x.flip(0).cummax(0)[0].flip(0)[i]

No entry is gathered then, and no lane folds again what the lane before it has folded. What is computed of entries is
computed of all places, so that no gradient may depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looplift.base.data import dataclass, replace
from looplift.ir.array import Axis, Node, merge_axes, reachable
from looplift.ir.facts import Kind
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.indexing import bounds_of, piece_nodes
from looplift.vectorize.linear import linear_of
from looplift.vectorize.subscripts import Along, Gather, Piece, Point, Whole, extent_of

FOLD = {"add": "sum", "max": "amax", "min": "amin"}
RUNNING = {"add": "cumsum", "max": "cummax", "min": "cummin"}
FOLDED = ("torch.int64", "torch.float32", "torch.float64")
"""The dtypes that stay what they are, and of the last two have values that are less or greater than all others."""
NEUTRAL = {"add": 0.0, "max": -float("inf"), "min": float("inf")}
SAFE = frozenset("add sub mul neg abs eq ne lt le gt ge and_ or_ not torch.abs torch.square".split())
"""Operations that raise for no value of any dtype."""


def folded(context: Context, node: Node, axis: Axis, operator: str) -> Node | None:
    """The fold of each lane's entries; None where it is none of whole rows."""
    if context.library != "torch" or node.kind.family != "tensor" or nodes.reads_memory(node):
        return None
    if str(node.kind.dtype) not in (FOLDED if operator == "add" else FOLDED[1:]) or operator not in FOLD:
        return None
    if context.needs_grad and (operator != "add" or node.op != "gather"):
        return None
    if axis.members is not None:
        return _masked(context, node, axis, operator)
    span = _span_of(axis)
    if span is None:
        return None
    return _running(node, axis, operator, span) or _padded(context, node, axis, operator, span)


# ---------------------------------------------------------------- the entries of a row where a mask holds


def _masked(context: Context, node: Node, axis: Axis, operator: str) -> Node | None:
    mask = axis.members
    if mask is None or mask.op in ("label_members", "collect") or mask.kind.rank != 1:
        return None
    return _chosen(context, mask, node, axis, operator, lambda index: index.op == "member" and index.axes == (axis,))


def _padded(context: Context, node: Node, axis: Axis, operator: str, span: _Span) -> Node | None:
    """Of entries from the first on, or up to the last, where rows have few places that no lane takes."""
    int64, flag = nodes.lane_dtype(nodes.INT), nodes.lane_dtype(nodes.BOOL)
    places = Node("arange", (span.extent,), (), Kind("tensor", int64, 1), {"extents": [span.extent]})
    word = "ge" if span.is_behind else "lt"
    mask = nodes.elementwise(word, [places, span.bound], Kind("tensor", flag, 1))
    found = _chosen(context, mask, node, axis, operator, span.is_place, span.extent)
    return found if found is not None and _is_filled(found, axis, span) else None


def _chosen(
    context: Context,
    mask: Node,
    node: Node,
    axis: Axis,
    operator: str,
    is_place: Callable[[Node], bool],
    extent: Node | None = None,
) -> Node | None:
    """What a mask leaves of rows, folded; of rows with weights, these are what it leaves some of."""
    weighted = _weights_of(node, axis) if operator == "add" else None
    if weighted is None:
        row = _row_of(node, axis, is_place, extent)
        if row is not None and row.kind.rank > 1 and operator == "add":
            return _sum_of_rows(context, mask, row, node, axis)
        return _folded_where(mask, row, node, axis, operator)
    weights, rows = (_row_of(one, axis, is_place, extent) for one in weighted)
    if weights is None or rows is None or weights.kind.rank != 1:
        return None
    return _weighted(nodes.held(mask, weights), rows, node, axis)


def _weights_of(node: Node, axis: Axis) -> tuple[Node, Node] | None:
    """The two factors of entries, of which the first is one number for each."""
    if node.op != "elementwise" or node.attrs["name"] not in ("mul", "torch.mul") or not node.kind.rank:
        return None
    for weight, row in (node.args, node.args[::-1]):
        if not weight.kind.rank and row.op == "gather" and axis in weight.axes and axis in row.axes:
            return weight, row
    return None


def _folded_where(mask: Node, row: Node | None, node: Node, axis: Axis, operator: str) -> Node | None:
    if row is None:
        return None
    rank = row.kind.rank
    counts = operator == "add" and row.op == "cast" and str(row.kind.dtype) == "torch.int64"
    if counts and "bool" in str(row.args[0].kind.dtype) and row.args[0].kind.rank == 1:
        axes = merge_axes(mask.axes, row.axes)
        chosen = Node("elementwise", (mask, row.args[0]), axes, mask.kind, {"name": "and_"})
    else:
        neutral = nodes.const(NEUTRAL[operator] if row.kind.dtype.is_floating_point else 0)
        if rank > 1:
            shape = Kind(mask.kind.family, mask.kind.dtype, rank)
            mask = Node("trailing", (mask,), mask.axes, shape, {"count": rank - 1})
        chosen = nodes.select(mask, row, neutral, row.kind)
    attrs = {"name": FOLD[operator], "dims": (-rank,), "keepdim": False, "all": rank == 1, "kwargs": [], "as": ""}
    return Node("fold", (chosen,), merge_axes(chosen.axes, axis.parents), node.kind, attrs)


def _sum_of_rows(context: Context, mask: Node, rows: Node, node: Node, axis: Axis) -> Node | None:
    """Where there is a gradient each row is chosen or not: that of a lane that takes none may be infinite."""
    if not context.needs_grad:
        return _weighted(nodes.cast(mask, rows.kind.dtype), rows, node, axis)
    return _folded_where(mask, rows, node, axis, "add") if set(axis.parents) & set(rows.axes) else None


LETTERS = "abcdefgh"


def _weighted(weights: Node, rows: Node, node: Node, axis: Axis) -> Node | None:
    """The sum of rows, each with its weight, as a product of matrices: as the loop's where that is finite."""
    is_own = set(axis.parents) & set(rows.axes)
    if not rows.kind.dtype.is_floating_point or (not is_own and (nodes.sample_of(extent_of(rows, 0)) or MANY) >= MANY):
        return None
    letters = LETTERS[: rows.kind.rank]
    axes = merge_axes(weights.axes, rows.axes, axis.parents)
    made = Node("contract", (weights, rows), axes, node.kind, {"lanes": ("a", letters, letters[1:])})
    return Node("only_finite", (made,), axes, node.kind)


MANY = 2048
"""Rows of which there are more are gathered, as each lane may take but few of them."""
SHORT = 256
"""Rows of so many places are as cheap as their entries, of which there may be far fewer."""


def _is_filled(row: Node, axis: Axis, span: _Span) -> bool:
    """Whether lanes take a good part of all places: half of them, or of rows of their own that are short."""
    if span.sweeps(0) or span.sweeps(1):
        return True
    own = any(one.op == "slice" and set(axis.parents) <= set(one.axes) and one.kind.rank for one in reachable([row]))
    return own and (nodes.sample_of(span.extent) or SHORT + 1) <= SHORT


# ---------------------------------------------------------------- entries as places of a row


def _row_of(node: Node, axis: Axis, is_place: Callable[[Node], bool], extent: Node | None = None) -> Node | None:
    """What is computed of the entries, computed of all places of a row (of this extent), in its first dimension."""
    if node.op == "gather":
        row = _whole(node, is_place)
        fits = row is not None and (extent is None or nodes.same_integer(extent_of(row, 0), extent))
        return row if fits else None
    if node.op == "matmul":
        return _product_of(node, axis, is_place, extent)
    args: list[Node] = []
    for arg in node.args:
        found = _row_of(arg, axis, is_place, extent) if axis in arg.axes else arg
        if found is None or found.kind.rank != (axis in arg.axes):
            return None
        args.append(found)
    if node.kind.rank or not _is_safe(node):
        return None
    kind = Kind(node.kind.family, node.kind.dtype, 1)
    attrs = node.attrs if extent is None else node.attrs | {"extents": [extent]}
    return Node(node.op, tuple(args), merge_axes(*(arg.axes for arg in args)), kind, attrs, node.hint)


def _product_of(node: Node, axis: Axis, is_place: Callable[[Node], bool], extent: Node | None) -> Node | None:
    """The products of all rows of a matrix with a vector."""
    for entries, vector in (node.args, node.args[::-1]):
        if entries.op != "gather" or axis in vector.axes or (entries.kind.rank, vector.kind.rank) != (1, 1):
            continue
        rows = _row_of(entries, axis, is_place, extent)
        if rows is not None and rows.kind.rank == 2:
            kind = Kind(node.kind.family, node.kind.dtype, 1)
            attrs = {"extents": [extent_of(rows, 0)]}
            return Node("matmul", (rows, vector), merge_axes(rows.axes, vector.axes), kind, attrs, node.hint)
    return None


def _is_safe(node: Node) -> bool:
    """Whether an operation has a value, and warns of nothing, for places that no lane takes."""
    if node.kind.family != "tensor" or node.op not in ("elementwise", "where", "cast"):
        return False
    floats = [arg.kind.dtype.is_floating_point for arg in node.args if arg.kind.is_array]
    return node.op != "elementwise" or node.attrs["name"] in SAFE or (bool(floats) and all(floats))


def _whole(node: Node, is_place: Callable[[Node], bool]) -> Node | None:
    """Whole rows in the place of the entries that a gather takes from them."""
    base, parts = node.args[0], [_part(piece, is_place) for piece in node.attrs["pieces"]]
    taken = [isinstance(piece, Gather) and is_place(piece.index) for piece in node.attrs["pieces"]]
    kept = [isinstance(piece, Whole) for piece in parts]
    if taken.count(True) != 1 or None in parts or any(kept[: taken.index(True)]):
        return None
    pieces: list[Any] = [piece for piece in parts if piece is not None]
    walked = [*base.axes, *(piece.axis for piece in pieces if isinstance(piece, Along))]
    if len(set(walked)) < len(walked) or any(axis.is_ragged for axis in walked):
        return None
    if len(parts) == base.kind.rank and all(kept):
        return base
    extents = [extent_of(base, dim) for dim, is_kept in enumerate(kept) if is_kept]
    axes = merge_axes(base.axes, tuple(walked))
    kind = Kind(node.kind.family, node.kind.dtype, len(extents))
    return Node("slice", (base, *piece_nodes(pieces)), axes, kind, {"pieces": pieces, "extents": extents}, node.hint)


def _part(piece: Piece, is_place: Callable[[Node], bool]) -> Piece | None:
    """What takes a whole row where ``piece`` takes entries of it, or where it has one place in each lane."""
    match piece:
        case Gather(index=index) if is_place(index):
            return Whole()
        case Gather(index=Node(op="along", kind=Kind(rank=0)) as index):
            return Along(index.axes[0], index.attrs["coefficient"], index.args[0])
        case Along() | Point() | Whole():
            return piece
    return None


# ---------------------------------------------------------------- what comes before, and what behind


@dataclass
class _Span:
    """The entries of each lane are the places before a ``bound``, or from it on, of as many as ``extent``."""

    axis: Axis
    bound: Node
    extent: Node
    is_behind: bool

    def is_place(self, index: Node) -> bool:
        if not self.is_behind:
            return self._is_number(index)
        is_sum = index.op == "elementwise" and index.attrs["name"] == "add"
        return is_sum and self._is_number(index.args[0]) and index.args[1] is self.bound

    def _is_number(self, index: Node) -> bool:
        """Whether it numbers the entries of each lane."""
        return index.op == "index" and index.attrs["axis"] is self.axis

    def sweeps(self, open_ends: int) -> Along | None:
        """The place of each lane's last entry, or first one, where these go through the row with the lanes."""
        form = linear_of(self.bound.args[0])
        if form is None or len(form.terms) != 1:
            return None
        ((axis, coefficient),) = form.terms.items()
        if (step := nodes.constant_of(coefficient)) not in (1, -1) or axis.is_ragged:
            return None
        piece = Along(axis, step, form.base if self.is_behind else nodes.minus(form.base, nodes.const(1)))
        first, last = bounds_of(piece)
        left = nodes.constant_of(nodes.minus(nodes.minus(self.extent, nodes.const(1)), last))
        fits = left is not None and nodes.least(first) >= -open_ends and left >= -open_ends
        return piece if fits else None


def _span_of(axis: Axis) -> _Span | None:
    lengths = axis.lengths
    if lengths is None or len(axis.parents) != 1 or axis.parents[0].is_ragged:
        return None
    if lengths.op == "where" and nodes.is_const(lengths.args[2], 0):  # of lanes that do not run
        lengths = lengths.args[1]
    if lengths.op == "bound":
        return None if lengths.args[1].axes else _Span(axis, lengths, lengths.args[1], False)
    if lengths.op == "elementwise" and lengths.attrs["name"] == "clamp_min" and nodes.is_const(lengths.args[1], 0):
        lengths = lengths.args[0]
    if lengths.op != "elementwise" or lengths.attrs["name"] != "sub" or lengths.args[1].op != "bound":
        return None
    extent, start = lengths.args
    is_last = not extent.axes and nodes.same_integer(start.args[1], extent)
    return _Span(axis, start, extent, True) if is_last else None


def _running(node: Node, axis: Axis, operator: str, span: _Span) -> Node | None:
    """Of entries that each lane has besides those of the lane before it."""
    parent = axis.parents[0]
    end = span.sweeps(0) or (span.sweeps(1) if operator == "add" and nodes.least(span.extent) >= 1 else None)
    if end is None or end.axis is not parent or parent in node.axes:
        return None
    row = _row_of(node, axis, span.is_place, span.extent)
    if row is None or parent in row.axes:
        return None
    made = _cumulated(row, node.kind.dtype, operator, span.is_behind)
    if span.sweeps(0):
        return _read(made, end, node.kind)
    last = nodes.minus(span.extent, nodes.const(1))
    at = nodes.elementwise("sub", [span.bound, nodes.const(0 if span.is_behind else 1)], nodes.INT)
    limit, other = ("clamp_max", last) if span.is_behind else ("clamp_min", nodes.const(0))
    found = _read(made, Gather(nodes.elementwise(limit, [at, other], nodes.INT, bits=40)), node.kind)
    some = nodes.compare("le", span.bound, last) if span.is_behind else nodes.compare("gt", span.bound, nodes.const(0))
    neutral = nodes.const(0.0 if node.kind.dtype.is_floating_point else 0)
    return nodes.select(some, found, neutral, node.kind)


def _read(row: Node, place: Along | Gather, kind: Kind) -> Node:
    pieces: list[Piece] = [place, *(Whole() for _ in range(1, row.kind.rank))]
    extents = [extent_of(row, dim) for dim in range(1, row.kind.rank)]
    own = (place.axis,) if isinstance(place, Along) else place.index.axes
    operands = (row, *piece_nodes(pieces))
    op = "slice" if isinstance(place, Along) else "gather"
    return Node(op, operands, merge_axes(row.axes, own), kind, {"pieces": pieces, "extents": extents, "wide": (0, 0)})


def _cumulated(row: Node, dtype: Any, operator: str, is_behind: bool) -> Node:
    """What a row adds up to at each place from the first on, or from the last."""
    attrs = {"dim": -row.kind.rank, "as": "", "extents": row.attrs.get("extents")}
    kind = replace(row.kind, dtype=dtype)

    def along(name: str, node: Node) -> Node:
        return Node("along_dim", (node,), node.axes, kind, attrs | {"name": name})

    made = along(RUNNING[operator], along("flip", row) if is_behind else row)
    return along("flip", made) if is_behind else made
