"""Arrays that each lane makes and writes to, of another length there, in; the rows of all lanes as one array out.

agg = torch.zeros_like(x)        agg = torch.zeros_like(x_flat)
agg[t] += x[s]                   agg.index_add_(0, first + t, x_flat[first + s])        first: of each lane
agg[t]                           agg[first + t]
"""

from __future__ import annotations

from looplift.ir.array import Axis, Node
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import Const, Group, Op, Operand, Slice, Var, as_atom
from looplift.vectorize import nodes, segments
from looplift.vectorize.context import Array, Context
from looplift.vectorize.held import check_held
from looplift.vectorize.nodes import Val
from looplift.vectorize.ragged import dims_of, lane_kind, outer_length
from looplift.vectorize.subscripts import Gather, New, Piece, Segment, extent_of, pieces_of


def made_like(context: Context, name: str, args: list[Val], kwargs: dict[str, Val], fact: Fact) -> Val:
    """``torch.zeros_like(x)`` and the like of a value whose first dimension is ragged, and no other."""
    value, *fill = args
    axis, *rest = dims_of(value)
    if axis is None or any(rest) or kwargs or value.node.axes != (axis,) or any(one.node.axes for one in fill):
        raise context.refuse("ragged-shape", f"'{name}' in this form, of another length in each iteration")
    dense = [extent_of(value.node, dim) for dim in range(value.node.kind.rank)]
    whole = Kind(fact.kind.family, value.node.kind.dtype, fact.kind.rank)
    entries = Node("relabel", (value.node,), (), whole, {"extents": [axis.extent, *dense]})
    attrs = {"name": name, "kwargs": [], "positional": len(args), "extents": [axis.extent, *dense]}
    made = Node("apply", (entries, *(one.node for one in fill)), (), fact.kind, attrs)
    return _as_rows(made, axis, lane_kind(context, fact, (axis, *rest)))


def made_of_sizes(context: Context, op: Op, fact: Fact) -> Val | None:
    """``torch.zeros(n, 4)`` and the like of a size that differs by lane, and is the first one; None for others."""
    if op.name.startswith("method."):
        return None
    first, *fill = op.args
    grouped = isinstance(first, Group)
    sizes, fill = (list(first.items), fill) if grouped else (list(op.args), [])
    if len(sizes) != fact.kind.rank or any(isinstance(one, Slice | Group) for one in sizes):
        return None
    count, *dense = [context.node(as_atom(size)) for size in sizes]
    others = [context.node(as_atom(one)) for one in fill]
    options = [(key, context.node(as_atom(value))) for key, value in op.kwargs]
    every = [*dense, *others, *(value for _, value in options)]
    if count.kind.family != "int" or not count.axes or any(node.axes for node in every):
        return None
    if (axis := _axis_of(context, count)) is None:
        return None
    shape = (axis.extent, *dense)
    display = Node("display", shape, (), Kind("tuple"), {"kind": "tuple"})
    attrs = {"name": op.name, "kwargs": [key for key, _ in options], "positional": 1 + len(others), "extents": [*shape]}
    made = Node("apply", (display, *others, *(value for _, value in options)), (), fact.kind, attrs)
    return _as_rows(made, axis, lane_kind(context, fact, (axis, *(None for _ in dense))))


COUNTED = ("int64", "int32", "float32", "float64")
"""The dtypes in which positions are what ``torch.arange`` gives."""


def counted(context: Context, op: Op, fact: Fact) -> Val | None:
    """``torch.arange(n)`` and ``torch.arange(lo, hi)`` where that is another number in each lane; None for others."""
    if not 1 <= len(op.args) <= 2 or any(key != "dtype" for key, _ in op.kwargs):
        return None
    if str(fact.kind.dtype).removeprefix("torch.") not in COUNTED:
        return None
    *first, last = [context.node(as_atom(arg)) for arg in op.args]
    if any(node.kind.family != "int" for node in (*first, last)):
        return None
    start = first[0] if first else nodes.const(0)
    count = last if nodes.is_const(start, 0) else nodes.elementwise("sub", [last, start], nodes.INT)
    axis = _axis_of(context, count) if count.axes else None
    if axis is None:
        return None
    position = segments.index_of(axis)
    if not nodes.is_const(start, 0):
        position = nodes.elementwise("add", [position, start], nodes.INT)
    return Val(nodes.cast(position, fact.kind.dtype), dims=(axis,))


def _axis_of(context: Context, count: Node) -> Axis | None:
    """The axis of as many entries in each lane as there are of something else, or one of its own.

    Under a mask only the former: lanes that do not run may have no number of entries.
    """
    if (known := segments.axis_of_lengths(context, count)) is not None or context.mask is not None:
        return known
    context.check(nodes.compare("ge", count, nodes.const(0)))
    return segments.axis_of(context, count, segments.lane_axes(context, count.axes), "k", ("rows", count.serial))


def _as_rows(whole: Node, axis: Axis, kind: Kind) -> Val:
    """The rows of an array as the entries of a ragged axis."""
    extents = [extent_of(whole, dim) for dim in range(1, whole.kind.rank)]
    node = Node("relabel", (whole,), (axis,), kind, {"extents": extents}, whole.hint)
    return Val(node, dims=(axis, *(None for _ in extents)))


def new_array(context: Context, var: Var, made: Val, fact: Fact) -> None:
    """An array of each lane that is made here and written to."""
    assert made.dims is not None
    axis, node = made.dims[0], made.node
    whole = node.args[0] if node.op == "relabel" else node
    if whole.op != "apply" and axis is not None and node.axes == (axis,) and not any(made.dims[1:]):
        whole = _copied(node, axis, fact.kind)
    if axis is None or whole.op != "apply" or whole.axes or set(context.active_axes()) != set(axis.parents):
        raise context.refuse("ragged-shape", f"'{var.hint}', of another length in each iteration, is written to")
    shape = tuple(extent_of(whole, dim) for dim in range(fact.kind.rank))
    whole.hint = var.hint
    place = {"home": context.steps[-1], "rows": axis, "outside": context.mask}
    context.arrays[var] = Array(var, whole, fact.kind, shape, True, (), **place)


def _copied(node: Node, axis: Axis, kind: Kind) -> Node:
    """The entries of a ragged axis as an array of its own."""
    extents = [axis.extent, *(extent_of(node, dim) for dim in range(node.kind.rank))]
    entries = Node("relabel", (node,), (), kind, {"extents": extents})
    attrs = {"name": "method.clone", "kwargs": [], "positional": 1, "extents": extents}
    return Node("apply", (entries,), (), kind, attrs)


def value_of(array: Array) -> Val:
    """What such an array holds."""
    assert array.rows is not None
    return _as_rows(array.node, array.rows, Kind(array.kind.family, array.kind.dtype, array.kind.rank - 1))


def store(context: Context, array: Array, index: Operand, val: Val, combine: str | None) -> None:
    """``array[index] = value``, or ``combine=``, at a row of each lane's own part."""
    from looplift.vectorize.stores import place

    first, *rest = index.items if isinstance(index, Group) and index.kind == "tuple" else (index,)
    if val.dims is not None or val.items is not None or val.sequence is not None:
        raise context.refuse("ragged-shape", f"a list or slice is stored into '{array.var.hint}'")
    if isinstance(first, Group | Slice) or (isinstance(first, Const) and type(first.value) is not int):
        raise context.refuse("ragged-shape", f"a store into a slice of '{array.var.hint}', of another length in each")
    assert array.rows is not None
    check_held(context, array, val.node, combine)
    if combine is None and not rest and _fills(context, array, array.rows, first, val.node):
        return _filled(context, array, val.node)
    at = segments.lane_integer(context, first)
    if first in context.told_apart:
        context.check(nodes.compare("ge", at, nodes.const(0)))
    at = segments.counted_from_start(context, at, outer_length(context, array.rows))
    start = Node("first", (), array.rows.parents, nodes.INT, {"axis": array.rows, "bits": 40}, "first")
    row: Piece = Gather(nodes.elementwise("add", [start, at], nodes.INT))
    others = Group("tuple", (Const(0), *rest))
    pieces = [row, *pieces_of(context, others, array.kind.rank, lambda dim: array.shape[dim], windows=False)[1:]]
    if any(isinstance(piece, New | Segment) for piece in pieces):
        raise context.refuse("order", "a store into a slice beside one of another length in each iteration")
    place(context, array, pieces, val.node, combine)


def _fills(context: Context, array: Array, rows: Axis, index: Var | Const, value: Node) -> bool:
    """Whether a loop over the rows of each lane stores a number into each of them, of an array that is just made."""
    form = context.affine(index)
    if not array.fresh or array.written or array.home is not context.steps[-1] or context.needs_grad:
        return False
    if array.kind.rank != 1 or value.kind.rank or form is None or not nodes.is_const(form.base, 0):
        return False
    if len(form.terms) != 1 or form.terms[0][1] != 1:
        return False
    axis = form.terms[0][0]
    if context.active_axes() != (axis,):  # loops inside of it may have no iteration
        return False
    return (axis.parents, axis.lengths, value.axes) == (rows.parents, outer_length(context, rows), (axis,))


def _filled(context: Context, array: Array, value: Node) -> None:
    """The values of all rows in the place of the array."""
    from looplift.vectorize.stores import stored

    kind = Kind(array.kind.family, array.kind.dtype, 0)
    made = stored(value, kind)
    if (mask := context.mask) is not None and mask is not array.outside:
        old = Node("relabel", (array.node,), value.axes, kind, {"extents": []})
        made = nodes.select(mask, made, old, kind)
    whole = Node("relabel", (made,), (), array.kind, {"extents": list(array.shape)})
    array.node = Node("owned", (whole,), (), array.kind, {"extents": list(array.shape)}, array.var.hint)
