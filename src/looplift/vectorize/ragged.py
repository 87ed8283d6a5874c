"""Operations on values of which a dimension has another length in each lane.

The entries of such a dimension are the positions of a ragged axis: a value [length, 4] of a lane is a node over that
axis, of lane rank 1. ``Val.dims`` has the author's dimensions in order, a ragged axis or None for one that is dense.

seg * w         elementwise on the entries; what lanes share reaches them by a gather
seg.mean(0)     a fold of each lane's entries
seg.softmax(0)  exp(seg - max[i_of_k]), divided by its sum
"""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Axis, Node, ancestors, merge_axes
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import Const, Group, Let, Op, Operand, Slice, Store, as_atom, constant
from looplift.ops import table
from looplift.ops.names import said
from looplift.vectorize import losses, nodes, segments
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val

Dims = tuple["Axis | None", ...]
LIKE = frozenset("zeros_like ones_like empty_like full_like".split())
ROWS = frozenset(("GRUCell", "RNNCell", "LSTMCell", "Bilinear"))
"""Modules whose arguments are vectors of one sample, or matrices with a row for each sample."""


def takes_rows(op: Op) -> bool:
    callee = op.args[0]
    return isinstance(callee, Const) and type(callee.value).__name__ in ROWS


def operation(context: Context, statement: Let) -> Val:
    """One operation with a ragged operand."""
    op, fact = statement.op, context.facts.of[statement.var]
    name = op.name.removeprefix("inplace.")
    made = _structure(context, op, fact)
    if made is None and op.name == "module" and takes_rows(op):
        from looplift.vectorize.cells import of_entries

        made = of_entries(context, op, fact, statement.var)
    if made is None and op.name == "module":
        from looplift.vectorize.ragged_modules import through_module

        made = through_module(context, op, fact)
    if made is None:
        args = [_operand(context, operand) for operand in op.args]
        kwargs = {key: _operand(context, operand) for key, operand in op.kwargs}
        if name in table.ITEM_BY_ITEM:
            _check_items(context, statement, args, kwargs)
        _check_order(context, statement, args)
        made = _computed(context, name, args, kwargs, fact)
        if op.name.startswith("inplace.") and made.node.kind.dtype != fact.kind.dtype:
            made.node = nodes.cast(made.node, fact.kind.dtype)
    made.node.hint = made.node.hint or statement.var.hint
    return made


IN_ORDER = frozenset(
    """sum mean nansum nanmean prod var std norm vector_norm logsumexp softmax log_softmax softmin dot matmul mv mm
    inner vdot einsum""".split()
)
"""Folds of floats whose last digit depends on the order in which they are taken together."""


def _check_order(context: Context, statement: Let, args: list[Val]) -> None:
    """What decides something has all digits of the loop's, which the entries of all lanes do not add up to.

    A kernel, which may take the loop then, says so in a note.
    """
    floats = any(nodes.may_have_gradient(arg.node.kind.dtype) for arg in args if arg.node.kind.is_array)
    decides = statement.var in context.flow.deciding or statement.var in context.flow.compared
    if floats and decides and (table.base_name(statement.op.name) in IN_ORDER or is_loss(statement.op.name)):
        name = statement.var.hint
        raise context.refuse("carried", f"'{name}' decides a branch or an index, so its sum must keep its order")


def _check_items(context: Context, statement: Let, args: list[Val], kwargs: dict[str, Val]) -> None:
    """Python's sum of no items is the integer 0, which a store makes what it makes of a tensor."""
    name, users = statement.op.name, context.flow.users.get(statement.var, ())
    if len(args) > 1 or kwargs or not context.facts.kind(statement.var).is_array:
        raise context.refuse("ragged-shape", f"'{said(name)}' in this form, of another length in each iteration")
    if not all(isinstance(user, Store) and user.value is statement.var for user in users):
        context.check(nodes.compare("ge", extent(context, args[0], 0), nodes.const(1)))


def _operand(context: Context, operand: Operand) -> Val:
    if isinstance(operand, Group) and all(isinstance(item, Const) for item in operand.items):
        return Val(nodes.const(tuple(constant(item) for item in operand.items)))
    if isinstance(operand, Group | Slice):
        raise context.refuse("ragged-shape", "a list or slice beside a value of another length in each iteration")
    return context.lookup(operand)


def is_loss(name: str) -> bool:
    return name.startswith("torch.nn.functional.") and table.base_name(name) in losses.FORMS


def _computed(context: Context, name: str, args: list[Val], kwargs: dict[str, Val], fact: Fact) -> Val:
    family, base = table.family(name), table.base_name(name)
    if name == "method.item" or name in ("builtin.float", "builtin.int", "builtin.bool", "method.tolist"):
        raise context.refuse("ragged-shape", "a slice of another length in each iteration becomes a number or list")
    if base in ("nonzero", "argwhere", "masked_select"):
        raise context.refuse("ragged-shape", f"'{base}' of a value of another length in each iteration")
    if is_loss(name):
        from looplift.vectorize.ragged_losses import loss

        return loss(context, name, args, kwargs, fact)
    if base in LIKE:
        from looplift.vectorize.ragged_arrays import made_like

        return made_like(context, name, args, kwargs, fact)
    match family:
        case "elementwise":
            return elementwise(context, name, args, fact, kwargs)
        case "reduction":
            from looplift.vectorize.ragged_folds import reduction

            return reduction(context, name, args, kwargs, fact)
        case "along" if base in ("softmax", "log_softmax", "softmin"):
            from looplift.vectorize.ragged_folds import softmax

            return softmax(context, base, args, kwargs, fact)
        case "contraction" if base == "linear" and not kwargs and not any(arg.node.axes for arg in args[1:]):
            from looplift.vectorize.ragged_modules import linear

            return linear(context, name, args, fact)
        case "contraction":
            from looplift.vectorize.ragged_items import contraction

            return contraction(context, base, args, kwargs, fact)
        case "shape":
            return _shaped(context, base, args, kwargs, fact)
    raise context.refuse(
        "ragged-shape", f"'{said(name)}' of a value that has another length in each iteration has no batched form"
    )


# ---------------------------------------------------------------- dimensions


def dims_of(val: Val) -> Dims:
    return val.dims if val.dims is not None else (None,) * val.node.kind.rank


def made_of(node: Node, dims: Dims) -> Val:
    """A value with these dimensions: an ordinary one if none of them is ragged."""
    return Val(node, dims=dims if any(axis is not None for axis in dims) else None)


def dense_position(dims: Dims, position: int) -> int:
    """Where among the dense dimensions the one at ``position`` stands."""
    return sum(axis is None for axis in dims[:position])


def array_kind(context: Context, kind: Kind, rank: int) -> Kind:
    family = "array" if context.library == "np" else "tensor"
    return Kind(family, kind.dtype, rank)


def lane_kind(context: Context, fact: Fact, dims: Dims) -> Kind:
    """The kind of a node whose author's value has the kind of ``fact`` and these dimensions."""
    if all(axis is None for axis in dims):
        return fact.kind
    return array_kind(context, fact.kind, sum(axis is None for axis in dims))


# ---------------------------------------------------------------- element-wise


def elementwise(context: Context, name: str, args: list[Val], fact: Fact, kwargs: dict[str, Val] | None = None) -> Val:
    """An element-wise operation on the entries."""
    from looplift.vectorize.arithmetic import arithmetic

    if fact.kind.family not in ("tensor", "array", "numpy"):
        raise context.refuse("ragged-shape", f"'{said(name)}' gives a {fact.kind.family}")
    kinds = [_author_kind(val) for val in args]
    nodes_of, dims = broadcast(context, args, fact.kind.rank)
    extra = {key: context_plain(context, val) for key, val in (kwargs or {}).items()}
    base = table.base_name(name)
    if context.library == "torch" and base not in ("where", "to", "type", "type_as"):
        nodes_of = _promoted(nodes_of, kinds)
    elif base == "where" and context.library == "torch":
        nodes_of = [nodes_of[0], *_promoted(nodes_of[1:], kinds[1:])]
    node = arithmetic(context, name, nodes_of, lane_kind(context, fact, dims), extra)
    check_chain(context, node.axes)
    return made_of(node, dims)


def context_plain(context: Context, val: Val) -> Node:
    if val.dims is not None or val.items is not None or val.sequence is not None:
        raise context.refuse("ragged-shape", "an option that has another length in each iteration")
    return val.node


def _author_kind(val: Val) -> Kind:
    kind = val.node.kind
    return kind if val.dims is None else Kind(kind.family, kind.dtype, len(val.dims))


def _promoted(operands: list[Node], kinds: list[Kind]) -> list[Node]:
    """Cast to the dtype in which the loop computes, in which a slice has a dimension and an entry has none."""
    wanted = nodes.common_dtype([kind for kind in kinds if kind.is_array or kind.is_number])
    return [
        nodes.cast(node, wanted) if node.kind.is_array and node.kind.dtype != wanted and _floats(node, wanted) else node
        for node in operands
    ]


def _floats(node: Node, wanted: Any) -> bool:
    return wanted.is_floating_point or not node.kind.dtype.is_floating_point


def broadcast(context: Context, args: list[Val], rank: int) -> tuple[list[Node], Dims]:
    """The operands over the same ragged axes, and the dimensions of the result."""
    dims: list[Axis | None] = [None] * rank
    made = [val.node for val in args]
    if any(val.items is not None or val.sequence is not None for val in args):
        raise context.refuse("ragged-shape", "a list beside a value of another length in each iteration")
    shapes = [list(dims_of(val)) for val in args]
    for back in range(1, rank + 1):
        present = [k for k, shape in enumerate(shapes) if len(shape) >= back]
        ragged = [k for k in present if shapes[k][-back] is not None]
        if not ragged:
            continue
        axis = shapes[ragged[0]][-back]
        assert axis is not None
        dims[-back] = axis
        for k in present:
            if k in ragged:
                made[k] = relabelled(context, made[k], shapes[k], shapes[k][-back], axis)
            else:
                made[k] = _entries_of(context, made[k], shapes[k], back, axis)
    if any(axis is not None and dims.count(axis) > 1 for axis in dims):  # the entries would be those of the diagonal
        raise context.refuse(
            "ragged-shape", "a value of another length in each iteration meets itself as row and column"
        )
    return made, tuple(dims)


def relabelled(context: Context, node: Node, shape: list[Axis | None], old: Axis | None, new: Axis | None) -> Node:
    """A value over a ragged axis as one over another, if both have as many entries in each lane."""
    assert old is not None and new is not None
    if old is new:
        return node
    inside = any(old in axis.parents for axis in shape if isinstance(axis, Axis))
    beside = any(axis.is_ragged and axis is not old and axis not in ancestors(old) for axis in node.axes)
    if old.parents != new.parents or old.lengths is None or new.lengths is None or inside or beside:
        raise context.refuse("ragged-shape", "values of different lengths in each iteration meet")
    context.check(nodes.compare("eq", old.lengths, new.lengths))
    for position, axis in enumerate(shape):
        if axis is old:
            shape[position] = new
    axes = merge_axes(tuple(new if axis is old else axis for axis in node.axes))
    return Node("relabel", (node,), axes, node.kind, {"extents": node.attrs.get("extents")}, node.hint)


def _entries_of(context: Context, node: Node, shape: list[Axis | None], back: int, axis: Axis) -> Node:
    """An operand with a dense dimension where others are ragged, at the entries.

    An extent of one is that of every entry; any other must be the length of every lane.
    """
    from looplift.vectorize.indexing import read_pieces
    from looplift.vectorize.subscripts import Gather, Piece, Point, Whole, extent_of

    position = dense_position(tuple(shape), len(shape) - back)
    extent = extent_of(node, position)
    pieces: list[Piece] = [Whole()] * node.kind.rank
    pieces[position] = Point(nodes.const(0))
    if not nodes.is_const(extent, 1):
        assert axis.lengths is not None
        context.check(nodes.compare("eq", axis.lengths, extent))
        pieces[position] = Gather(segments.index_of(axis))
    shape[len(shape) - back] = _GONE
    kind = Kind(node.kind.family, node.kind.dtype, node.kind.rank - 1)
    with context.unmasked():
        return read_pieces(context, node, pieces, kind)


_GONE: Any = object()


def check_chain(context: Context, axes: tuple[Axis, ...]) -> None:
    """Entries of two ragged axes meet only where one is inside of the other."""
    ragged = [axis for axis in axes if axis.is_ragged]
    for axis in ragged:
        for other in ragged:
            if axis is not other and set(ancestors(axis)) & {other, *ancestors(other)}:
                raise context.refuse("ragged-shape", "two values of different lengths in each iteration meet")


# ---------------------------------------------------------------- structure


def _structure(context: Context, op: Op, fact: Fact) -> Val | None:
    match op.name:
        case "copy":
            return context.lookup(as_atom(op.args[0]))
        case "getitem" | "iter_item":
            from looplift.vectorize.ragged_items import getitem

            return getitem(context, op, fact)
        case "unpack":
            return _unpacked(context, op, fact)
        case "builtin.len" | "iter_len":
            return Val(extent(context, context.lookup(as_atom(op.args[0])), 0))
        case "attribute":
            return _attribute(context, op, fact)
        case "method.size" | "method.numel" | "torch.numel" | "method.dim":
            return _size(context, op, fact)
    return None


def _unpacked(context: Context, op: Op, fact: Fact) -> Val:
    """``source, target = edges`` of a value whose first dimension is not the ragged one."""
    from looplift.vectorize.ragged_items import getitem

    val, (position, count) = context.lookup(as_atom(op.args[0])), map(constant, op.args[1:])
    if dims_of(val)[0] is not None:
        raise context.refuse("ragged-shape", "a value of another length in each iteration is unpacked")
    context.check(nodes.compare("eq", extent(context, val, 0), nodes.const(count)))
    return getitem(context, Op("getitem", (op.args[0], Const(position))), fact)


def extent(context: Context, val: Val, position: int) -> Node:
    """The extent of one of the author's dimensions: an integer of each lane where it is ragged."""
    from looplift.vectorize.subscripts import extent_of

    dims = dims_of(val)
    axis = dims[position]
    if axis is None:
        return extent_of(val.node, dense_position(dims, position))
    return outer_length(context, axis)


def outer_length(context: Context, axis: Axis) -> Node:
    """How many entries each lane has; of a box's inner dimension, where it is the same in all its rows."""
    assert axis.lengths is not None
    if axis.lengths.op == "spread" and axis.parents[0].is_ragged:
        return axis.lengths.args[0]
    return axis.lengths


def _attribute(context: Context, op: Op, fact: Fact) -> Val:
    val, name = context.lookup(as_atom(op.args[0])), constant(op.args[1])
    dims = dims_of(val)
    if name == "shape":
        items = [Val(extent(context, val, position)) for position in range(len(dims))]
        axes = merge_axes(*(item.node.axes for item in items))
        return Val(Node("display", tuple(i.node for i in items), axes, fact.kind, {"kind": "tuple"}), items=items)
    if name == "ndim":
        return Val(nodes.const(len(dims)))
    if name == "size" and len(dims) == 1:
        return Val(extent(context, val, 0))
    if name in ("dtype", "device"):
        return Val(Node("attribute", (val.node,), (), fact.kind, {"name": name}))
    if name in ("T", "mT") and len(dims) <= 2:
        return _transposed(context, val, dims[::-1])
    raise context.refuse("ragged-shape", f"the attribute '.{name}' of a value of another length in each iteration")


def _size(context: Context, op: Op, fact: Fact) -> Val:
    val = context.lookup(as_atom(op.args[0]))
    dims = dims_of(val)
    base = table.base_name(op.name)
    if base == "dim":
        return Val(nodes.const(len(dims)))
    extents = [extent(context, val, position) for position in range(len(dims))]
    if base == "numel":
        total = extents[0]
        for other in extents[1:]:
            total = nodes.elementwise("mul", [total, other], nodes.INT)
        return Val(total)
    if len(op.args) == 2 and isinstance(op.args[1], Const):
        return Val(extents[op.args[1].value])
    items = [Val(node) for node in extents]
    axes = merge_axes(*(item.node.axes for item in items))
    return Val(Node("display", tuple(extents), axes, fact.kind, {"kind": "tuple"}), items=items)


def _transposed(context: Context, val: Val, dims: Dims) -> Val:
    if sum(axis is None for axis in dims) < 2:
        return Val(val.node, dims=dims)
    raise context.refuse("ragged-shape", "a value of another length in each iteration is transposed")


def _shaped(context: Context, base: str, args: list[Val], kwargs: dict[str, Val], fact: Fact) -> Val:
    val = args[0]
    dims = dims_of(val)
    if base in ("detach", "clone", "contiguous", "copy", "cpu"):
        attrs = {"name": "copy" if base == "copy" else base, "extents": val.node.attrs.get("extents")}
        return Val(Node("method", (val.node,), val.node.axes, val.node.kind, attrs), dims=dims)
    if base in ("t", "T", "mT") and len(dims) <= 2:
        return _transposed(context, val, dims[::-1])
    if base in ("transpose", "swapaxes") and len(dims) == 2 and (base == "swapaxes" or len(args) < 2):
        return _transposed(context, val, dims[::-1])
    if base == "unsqueeze" and len(args) + len(kwargs) == 2:
        (dim,) = [*args[1:], *kwargs.values()]
        position = nodes.constant_of(dim.node)
        if position is not None:
            return with_unit(val, position % (len(dims) + 1))
    if base in ("flatten", "ravel", "squeeze") and len(args) <= 2 and not kwargs:
        if (flat := _without_unit(base, val, dims, args[1:])) is not None:
            return flat
        if base == "squeeze" and (squeezed := _without_dense(context, val, dims, args[1:], fact)) is not None:
            return squeezed
    raise context.refuse("ragged-shape", f"'{base}' of a value that has another length in each iteration")


def _without_unit(base: str, val: Val, dims: Dims, args: list[Val]) -> Val | None:
    """A column of entries as a vector of them; None for anything else."""
    node = val.node
    if len(dims) == 1 and base != "squeeze" and not args:
        return Val(node, dims=dims)
    if len(dims) != 2 or dims[0] is None or node.op != "unsqueezed" or node.args[0].kind.rank:
        return None
    if base == "squeeze" and (not args or nodes.constant_of(args[0].node) not in (1, -1)):
        return None
    return None if base != "squeeze" and args else Val(node.args[0], dims=dims[:1])


def _without_dense(context: Context, val: Val, dims: Dims, args: list[Val], fact: Fact) -> Val | None:
    """``squeeze(dim)`` of a dense dimension, required to be of extent one; None for anything else."""
    from looplift.vectorize.indexing import read_pieces
    from looplift.vectorize.subscripts import Piece, Point, Whole

    dim = nodes.constant_of(args[0].node) if args else None
    if dim is None or dims[dim % len(dims)] is not None or fact.kind.rank != len(dims) - 1:
        return None
    at, rest = dense_position(dims, dim % len(dims)), tuple(axis for k, axis in enumerate(dims) if k != dim % len(dims))
    context.check(nodes.compare("eq", extent(context, val, dim % len(dims)), nodes.const(1)))
    pieces: list[Piece] = [Whole()] * val.node.kind.rank
    pieces[at] = Point(nodes.const(0))
    with context.unmasked():
        return made_of(read_pieces(context, val.node, pieces, lane_kind(context, fact, rest)), rest)


def with_unit(val: Val, position: int) -> Val:
    """A value with a dimension of extent one more."""
    dims = dims_of(val)
    node = unsqueezed(val.node, dense_position(dims, position))
    return Val(node, dims=(*dims[:position], None, *dims[position:]))


def unsqueezed(node: Node, dim: int) -> Node:
    """A node with a lane dimension of extent one before its ``dim``-th."""
    rank = node.kind.rank
    extents: list[Node | None] = list(node.attrs.get("extents") or [None] * rank)
    extents.insert(dim, nodes.const(1))
    kind = Kind("array" if node.kind.family == "numpy" else node.kind.family, node.kind.dtype, rank + 1)
    return Node("unsqueezed", (node,), node.axes, kind, {"dim": dim - rank - 1, "extents": extents})
