"""Subscripts and products of values of which a dimension has another length in each lane."""

from __future__ import annotations

from looplift.ir.array import Axis, Node, merge_axes
from looplift.ir.facts import Fact
from looplift.ir.grammar import Const, Group, Op, Operand, Slice, Var, as_atom
from looplift.vectorize import doubts, nodes, rows, segments
from looplift.vectorize.context import Context, index_node
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
from looplift.vectorize.reached import gradient_nodes
from looplift.vectorize.subscripts import Segment, Whole, pieces_of

# ---------------------------------------------------------------- subscripts


def getitem(context: Context, op: Op, fact: Fact) -> Val:
    """``value[...]``: whole or one entry of the ragged dimensions, any subscript of the others."""
    val, index = context.lookup(as_atom(op.args[0])), op.args[1]
    if val.dims is None:
        return _gathered(context, val, index, fact)
    items = list(index.items) if isinstance(index, Group) and index.kind == "tuple" else [index]
    items = _completed(context, items, len(val.dims))
    if (found := _element(context, val, items)) is not None:
        return Val(found)
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
        elif isinstance(item, Slice) and (window := _window(context, node, axis, item)) is not None:
            node = window
            dense.append(Slice(Const(None), Const(None), Const(None)))
            dims.append(None)
        elif isinstance(item, Slice):
            node, axis = _cut(context, node, axis, item)
            dims.append(axis)
        else:
            node = entry(context, node, axis, item)
    return made_of(_dense_items(context, node, dense, fact, tuple(dims)), tuple(dims))


def _gathered(context: Context, val: Val, index: Operand, fact: Fact) -> Val:
    """``x[near]``: the entries at the places that each lane names."""
    items = list(index.items) if isinstance(index, Group) and index.kind == "tuple" else [index]
    if val.items is not None or val.sequence is not None or not val.node.kind.is_array:
        raise context.refuse("ragged-shape", "a subscript that has another length in each iteration")
    items = _completed(context, items, val.node.kind.rank)
    found = [rows.value_of(context, item) for item in items]
    at = next(k for k, entries in enumerate(found) if entries is not None)
    places = found[at]
    assert places is not None
    if sum(entries is not None for entries in found) > 1 or any(isinstance(item, Group) for item in items):
        raise context.refuse("ragged-shape", "several lists or arrays in one subscript, of another length in each")
    dtype = str(places.node.kind.dtype).removeprefix("torch.")
    if places.dims is None or len(places.dims) != 1 or dtype not in ("int64", "int32") or _is_parted(items, at):
        raise context.refuse("ragged-shape", "a subscript that has another length in each iteration")
    pieces = pieces_of(context, Group("tuple", (*items[:at], Const(0), *items[at + 1 :])), val.node.kind.rank)
    (axis,) = places.dims
    assert axis is not None
    pieces[at] = Segment(axis, nodes.cast(places.node, nodes.lane_dtype(nodes.INT)))
    return segments.read(context, val.node, pieces, fact.kind)


def _is_parted(items: list[Operand], at: int) -> bool:
    """Whether slices stand between an integer and the list: the dimension of its entries comes first then."""
    plain = [k for k, item in enumerate(items) if not isinstance(item, Slice) and k != at]
    return any(isinstance(item, Slice) for k in plain for item in items[min(k, at) : max(k, at)])


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

    pieces = pieces_of(context, Group("tuple", tuple(dense)), node.kind.rank)
    kind = lane_kind(context, fact, dims)
    if all(isinstance(piece, Whole) for piece in pieces):
        return node if node.kind == kind else Node("relabel", (node,), node.axes, kind, dict(node.attrs))
    return read_pieces(context, node, pieces, kind)


def _element(context: Context, val: Val, items: list[Operand]) -> Node | None:
    """``matrix[i, j]`` where matrices have other numbers of rows and of columns in each lane; None for other values."""
    if len(items) != 2 or any(isinstance(item, Group | Slice) for item in items) or not all(dims := dims_of(val)):
        return None
    rows_axis, columns = dims
    if rows_axis is None or columns is None or columns.parents != (rows_axis,) or val.node.axes != (columns,):
        return None
    first = Node("first", (), (rows_axis,), nodes.INT, {"axis": columns, "bits": 40}, "first")
    start = entry(context, first, rows_axis, items[0])
    return _entry_from(context, val.node, columns, start, items[1])


def entry(context: Context, node: Node, axis: Axis, item: Operand) -> Node:
    """One entry of each lane."""
    if isinstance(item, Group | Slice) or (isinstance(item, Var) and context.lookup(item).dims is not None):
        raise context.refuse("ragged-shape", "a subscript into a dimension of another length in each iteration")
    if isinstance(item, Var) and context.facts.kind(item).is_array and context.facts.kind(item).rank:
        raise context.refuse("ragged-shape", "what has another length in each iteration is read at several places")
    form = context.affine(item)
    if axis not in node.axes:
        raise context.refuse("ragged-shape", "a row of a value that has other lengths in two dimensions")
    if form is not None and len(form.terms) == 1 and nodes.is_const(form.base, 0):
        ((other, coefficient),) = form.terms
        if context.items_of(node):  # an item that has nothing gets no gradient from a loop over it
            context.check(nodes.compare("ge", outer_length(context, axis), nodes.const(1)))
        if coefficient == 1 and other.parents == axis.parents and other.lengths is outer_length(context, axis):
            axes = merge_axes(tuple(other if a is axis else a for a in node.axes))
            return Node("relabel", (node,), axes, node.kind, dict(node.attrs), node.hint)
    first = Node("first", (), axis.parents, nodes.INT, {"axis": axis, "bits": 40}, "first")
    read = _entry_from(context, node, axis, first, item)
    if _may_reach_items(context, node):
        _check_each_read(context, read.axes)
    return read


def _entry_from(context: Context, node: Node, axis: Axis, first: Node, item: Operand) -> Node:
    """The entry at a place that is counted from a first one."""
    at, length = segments.lane_integer(context, item), outer_length(context, axis)
    place = nodes.elementwise("add", [first, segments.counted_from_start(context, at, length)], nodes.INT)
    return _taken(context, node, axis, place, _where_inside(context, item, length))


def _where_inside(context: Context, item: Operand, length: Node) -> Node | None:
    """Where a place is one of so many, also in lanes that do not run; None if it is everywhere."""
    form = context.affine(item) if isinstance(item, Var) else None
    if form is None or len(form.terms) != 1 or not nodes.is_const(form.base, 0) or form.terms[0][1] != 1:
        return context.mask
    axis = form.terms[0][0]
    if axis.lengths is length:
        return None
    return nodes.compare("lt", index_node(axis), length) if axis.below is length else context.mask


def _may_reach_items(context: Context, node: Node) -> bool:
    """Whether a gradient of a value may reach items of a list that the caller gave, also by way of a name."""
    if not context.needs_grad or not context.items_given:
        return False
    return bool(context.items_of(node)) or any(map(_is_made_earlier, gradient_nodes(node)))


def _is_made_earlier(node: Node) -> bool:
    """Whether a name stands for what was carried, or stored into memory."""
    return node.op == "name" and (bool(node.axes) or bool(node.attrs.get("memory")))


def _check_each_read(context: Context, lanes: tuple[Axis, ...]) -> None:
    """An item that a loop without iterations would read gets no gradient."""
    with context.unmasked():
        for axis in lanes:
            if axis.lengths is not None:
                context.check(nodes.compare("ge", axis.lengths, nodes.const(1)))


def at_entries(context: Context, node: Node, axis: Axis, at: Node) -> Node:
    """The entries at positions ``at`` of their lanes."""
    first = Node("first", (), axis.parents, nodes.INT, {"axis": axis, "bits": 40}, "first")
    return _taken(context, node, axis, nodes.elementwise("add", [first, at], nodes.INT), context.mask)


def _taken(context: Context, node: Node, axis: Axis, place: Node, inside: Node | None) -> Node:
    """The entries at places among those of all lanes, which are some where a mask holds."""
    if inside is not None:
        place = nodes.select(inside, place, nodes.const(0), nodes.INT)
    attrs = {"axis": axis, "extents": node.attrs.get("extents"), "spare": inside is not None}
    if any(a.is_ragged or a in place.axes for a in node.axes if a is not axis):
        raise context.refuse("ragged-shape", "an entry of a ragged value of several loops")

    def read(node: Node) -> Node:
        if axis not in node.axes:
            return node
        others = tuple(a for a in node.axes if a is not axis)
        way = "entry_across" if others else "entry"
        return Node(way, (node, place), merge_axes(others, place.axes), node.kind, dict(attrs))

    made = read(node)
    doubts.record_read(context, made, node, read, inside)
    return made


def _window(context: Context, node: Node, axis: Axis, item: Slice) -> Node | None:
    """``seg[t:t + 1]`` in a loop over ``t`` that stays: one entry, required to be there; None for another slice."""
    parts = [None if isinstance(p, Const) and p.value is None else p for p in (item.lo, item.hi)]
    if None in parts or not (isinstance(item.step, Const) and item.step.value in (None, 1)):
        return None
    lo, hi = (segments.lane_integer(context, part) for part in parts if part is not None)
    width = nodes.const(1)
    if lo.axes or hi.axes or lo.op == "const" or node.axes != (axis,) or not nodes.is_const(nodes.minus(hi, lo), 1):
        return None
    context.check(nodes.compare("ge", lo, nodes.const(0)))
    context.check(nodes.compare("le", hi, outer_length(context, axis)))
    first = Node("first", (), axis.parents, nodes.INT, {"axis": axis, "bits": 40}, "first")
    place = nodes.elementwise("add", [first, lo], nodes.INT)
    if context.mask is not None:
        place = nodes.select(context.mask, place, nodes.const(0), nodes.INT)
    index = segments.steps_from(context, place, width)
    extents = [width, *(node.attrs.get("extents") or [None] * node.kind.rank)]
    kind = array_kind(context, node.kind, node.kind.rank + 1)
    attrs = {"axis": axis, "extents": extents, "spare": context.mask is not None}
    return Node("entry", (node, index), index.axes, kind, attrs)


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
    if base in ("inner", "vdot") and ranks != [1, 1]:
        raise context.refuse("ragged-shape", f"'{base}' of matrices of another length in each iteration")
    if base == "vdot" and "complex" in str(fact.kind.dtype):  # of the conjugate
        raise context.refuse("ragged-shape", "'vdot' of complex numbers of another length in each iteration")
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
