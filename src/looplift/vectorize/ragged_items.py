"""Subscripts and products of values of which a dimension has another length in each lane."""

from __future__ import annotations

from looplift.ir.array import Axis, Node, merge_axes
from looplift.ir.facts import Fact
from looplift.ir.grammar import Const, Group, Op, Operand, Slice, Var, as_atom
from looplift.vectorize import nodes, segments
from looplift.vectorize.context import Context, items_of
from looplift.vectorize.nodes import Val
from looplift.vectorize.ragged import (
    Dims,
    array_kind,
    check_chain,
    dims_of,
    lane_kind,
    made_of,
    outer_length,
    relabelled,
    unsqueezed,
)

# ---------------------------------------------------------------- subscripts


def getitem(context: Context, op: Op, fact: Fact) -> Val:
    """``value[...]``: whole or one entry of the ragged dimensions, any subscript of the others."""
    val, index = context.lookup(as_atom(op.args[0])), op.args[1]
    if val.dims is None:
        raise context.refuse("ragged-shape", "a subscript that has another length in each iteration")
    items = list(index.items) if isinstance(index, Group) and index.kind == "tuple" else [index]
    items = _completed(context, items, len(val.dims))
    node, dims = val.node, []
    dense: list[Operand] = []
    sources = iter(val.dims)
    for item in items:
        if isinstance(item, Const) and item.value is None:
            dense.append(item)
            dims.append(None)
            continue
        axis = next(sources)
        if axis is None:
            dense.append(item)
            if isinstance(item, Slice):
                dims.append(None)
        elif isinstance(item, Slice) and _is_whole(item):
            dims.append(axis)
        elif isinstance(item, Slice):
            node, axis = _cut(context, node, axis, item)
            dims.append(axis)
        else:
            node = entry(context, node, axis, item)
    return made_of(_dense_items(context, node, dense, fact, tuple(dims)), tuple(dims))


def _completed(context: Context, items: list[Operand], rank: int) -> list[Operand]:
    whole = Slice(Const(None), Const(None), Const(None))
    given = sum(not (isinstance(i, Const) and (i.value is None or i.value is Ellipsis)) for i in items)
    at = next((k for k, i in enumerate(items) if isinstance(i, Const) and i.value is Ellipsis), None)
    if at is None:
        return items + [whole] * (rank - given)
    return [*items[:at], *[whole] * (rank - given), *items[at + 1 :]]


def _is_whole(item: Slice) -> bool:
    return all(isinstance(part, Const) and part.value is None for part in (item.lo, item.hi, item.step))


def _dense_items(context: Context, node: Node, dense: list[Operand], fact: Fact, dims: Dims) -> Node:
    from looplift.vectorize.indexing import read_pieces
    from looplift.vectorize.subscripts import Whole, pieces_of

    pieces = pieces_of(context, Group("tuple", tuple(dense)), node.kind.rank)
    kind = lane_kind(context, fact, dims)
    if all(isinstance(piece, Whole) for piece in pieces):
        return node if node.kind == kind else Node("relabel", (node,), node.axes, kind, dict(node.attrs))
    return read_pieces(context, node, pieces, kind)


def entry(context: Context, node: Node, axis: Axis, item: Operand) -> Node:
    """One entry of each lane."""
    if isinstance(item, Group | Slice) or (isinstance(item, Var) and context.lookup(item).dims is not None):
        raise context.refuse("ragged-shape", "a subscript into a dimension of another length in each iteration")
    form = context.affine(item)
    if form is not None and len(form.terms) == 1 and nodes.is_const(form.base, 0):
        ((other, coefficient),) = form.terms
        if context.needs_grad and items_of(node):  # an item that has nothing gets no gradient from a loop over it
            context.check(nodes.compare("ge", outer_length(context, axis), nodes.const(1)))
        if coefficient == 1 and other.parents == axis.parents and other.lengths is outer_length(context, axis):
            axes = merge_axes(tuple(other if a is axis else a for a in node.axes))
            return Node("relabel", (node,), axes, node.kind, dict(node.attrs), node.hint)
    at = segments.lane_integer(context, item)
    length = outer_length(context, axis)
    context.check(nodes.compare("lt", at, length))
    context.check(nodes.compare("ge", at, nodes.elementwise("neg", [length], nodes.INT)))
    if at.op == "const":
        if at.attrs["value"] < 0:
            at = nodes.elementwise("add", [length, at], nodes.INT)
    else:
        wrapped = nodes.elementwise("add", [at, length], nodes.INT)
        at = nodes.select(nodes.compare("lt", at, nodes.const(0)), wrapped, at, nodes.INT)
    return at_entries(context, node, axis, at)


def at_entries(context: Context, node: Node, axis: Axis, at: Node) -> Node:
    """The entries at positions ``at`` of their lanes."""
    first = Node("first", (), axis.parents, nodes.INT, {"axis": axis, "bits": 40}, "first")
    place = nodes.elementwise("add", [first, at], nodes.INT)
    if context.mask is not None:
        place = nodes.select(context.mask, place, nodes.const(0), nodes.INT)
    rest = tuple(a for a in node.axes if a is not axis)
    if rest:
        raise context.refuse("ragged-shape", "an entry of a ragged value of several loops")
    attrs = {"axis": axis, "extents": node.attrs.get("extents"), "spare": context.mask is not None}
    return Node("entry", (node, place), place.axes, node.kind, attrs)


def _cut(context: Context, node: Node, axis: Axis, item: Slice) -> tuple[Node, Axis]:
    """A slice of each lane's entries."""
    if not (isinstance(item.step, Const) and item.step.value in (None, 1)):
        raise context.refuse("ragged-shape", "a slice with a step, of another length in each iteration")
    length = outer_length(context, axis)
    lo, hi = (
        None if isinstance(p, Const) and p.value is None else segments.lane_integer(context, p)
        for p in (item.lo, item.hi)
    )
    made, index = segments.slice_axis(context, lo, hi, length, axis.name)
    return at_entries(context, node, axis, index), made


# ---------------------------------------------------------------- products


def contraction(context: Context, base: str, args: list[Val], kwargs: dict[str, Val], fact: Fact) -> Val:
    """Matrix products: the summed dimension, or another one, is ragged."""
    from looplift.vectorize.network import product

    ranks = [len(dims_of(val)) for val in args]
    if (
        kwargs
        or len(args) != 2
        or base not in ("matmul", "mm", "mv", "dot", "inner", "vdot")
        or not 1 <= min(ranks) <= max(ranks) <= 2
    ):
        raise context.refuse("ragged-shape", f"'{base}' of values of another length in each iteration")
    a, b = args
    left, right = dims_of(a), dims_of(b)
    if base == "inner" and ranks != [1, 1]:
        raise context.refuse("ragged-shape", "'inner' of matrices of another length in each iteration")
    dims = (*left[:-1], *right[1:])
    if (left[-1] is None) != (right[0] is None):
        raise context.refuse("ragged-shape", "a product of values of one length and of another in each iteration")
    if sum(axis is not None for axis in dims) > 1 or (left[-1] is not None and any(dims)):
        raise context.refuse("ragged-shape", "a product that has two dimensions of another length in each iteration")
    if left[-1] is not None:
        return _summed_product(context, a, b, fact)
    node = product(a.node, b.node, lane_kind(context, fact, dims))
    check_chain(context, node.axes)
    return made_of(node, dims)


def _summed_product(context: Context, a: Val, b: Val, fact: Fact) -> Val:
    """``a @ b`` over a ragged dimension: products of entries, summed for each lane."""
    from looplift.vectorize.ragged_folds import segment

    left, right, axis = a.node, b.node, dims_of(a)[-1]
    assert axis is not None
    shape = list(dims_of(b))
    right = relabelled(context, right, shape, shape[0], axis)
    if left.kind.rank and right.kind.rank:
        left, right = unsqueezed(left, 1), unsqueezed(right, 0)
    if left.kind.dtype != right.kind.dtype:
        raise context.refuse("mixed-kinds", "a product of matrices of different dtypes")
    kind = array_kind(context, fact.kind, fact.kind.rank)
    made = nodes.elementwise("mul", [left, right], kind)
    return Val(segment(context, made, axis, "add", fact.kind))
