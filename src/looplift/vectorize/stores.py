"""Stores by subscripts: slices where subscripts are affine, scatters where places may repeat.

out[i, j] = v          covers a fresh out: out is v
out[i] = v             out[lo:hi] = v
out[idx[i]] = v        the last writer wins
out[idx[i]] += v       accumulates
"""

from __future__ import annotations

from looplift.base.data import replace
from looplift.ir.array import Axis, Node, Write, merge_axes
from looplift.ir.facts import Kind
from looplift.ir.grammar import Operand
from looplift.ops import table
from looplift.vectorize import blocks, devices, doubts, fitting, held, linear, nodes, places, ragged_arrays
from looplift.vectorize.context import Array, Context, Contribution, index_node
from looplift.vectorize.counts import is_counted
from looplift.vectorize.indexing import (
    along_node,
    bounds_of,
    check_place,
    is_inside,
    piece_nodes,
    surely,
    wide_place,
    wrapped,
)
from looplift.vectorize.nodes import Val
from looplift.vectorize.reached import leaves
from looplift.vectorize.sheltered import sheltered
from looplift.vectorize.subscripts import (
    Along,
    Cut,
    Gather,
    New,
    Piece,
    Point,
    Segment,
    Whole,
    extent_of,
    nested,
    pieces_of,
)
from looplift.vectorize.unseen import check_seen

FOLDED = {"add": "add", "sub": "add", "mul": "mul", "max": "max", "min": "min", "maximum": "maximum",
          "minimum": "minimum"}  # fmt: skip
"""What a store combines with, and the reduction by which several iterations do it at once."""


def store(context: Context, array: Array, index: Operand, val: Val, combine: str | None) -> None:
    """``array[index] = value`` (or ``combine=``) in every active lane."""
    if val.dims is None:
        val = replace(val, node=devices.at_home(context.facts, array.var, val.node))
    if array.rows is not None:
        return ragged_arrays.store(context, array, index, val, combine)
    pieces = pieces_of(context, index, array.kind.rank, lambda dim: array.shape[dim], windows=False, apart=True)
    if any(isinstance(piece, New) for piece in pieces):
        raise context.refuse("order", "a store into a slice that moves with the loop")
    if combine is None:
        _check_same_type(context, array, pieces, val.node)
    _check_told_apart(context, array, index, pieces)
    if val.dims is None:
        held.check_held(context, array, val.node, combine)
    sliced = any(isinstance(piece, Segment) for piece in pieces)
    if sliced and blocks.store_blocks(context, array, pieces, index, val, combine):
        return
    if val.dims is not None or sliced:
        from looplift.vectorize.ragged_stores import store_ragged

        return store_ragged(context, array, nested(context, pieces), val, combine)
    place(context, array, pieces, val.node, combine)


def _check_told_apart(context: Context, array: Array, index: Operand, pieces: list[Piece]) -> None:
    """Subscripts that were taken to name other places in other iterations must not count from both ends for it."""
    path = places.by_dimension(context, array.var, index) or []
    for dim, (item, piece) in enumerate(zip(path, pieces, strict=False)):
        if item not in context.told_apart:
            continue
        if isinstance(piece, Along):
            low, high = bounds_of(piece)
            if not surely(nodes.const(0), low) and not surely(high, nodes.const(-1)):
                context.check_at_most(nodes.plus(nodes.minus(high, low), nodes.const(1)), array.shape[dim])
        elif isinstance(piece, Gather | Point):
            place = piece.index if isinstance(piece, Gather) else piece.at
            context.check(nodes.compare("ge", place, nodes.const(0)))


def _check_same_type(context: Context, array: Array, pieces: list[Piece], value: Node) -> None:
    """torch converts what is stored into a slice, and refuses to where an index tensor, a list or a mask is."""
    chosen = any((isinstance(p, Gather) and p.index.kind.rank) or (isinstance(p, Segment) and p.mask) for p in pieces)
    if chosen and value.kind.family == "tensor" and value.kind.dtype != array.kind.dtype:
        raise context.refuse("requirement", f"a {value.kind.dtype} is stored by index into one of {array.kind.dtype}")


def place(context: Context, array: Array, pieces: list[Piece], value: Node, combine: str | None) -> None:
    """A store of a value whose shape is the same in all lanes."""
    if (
        context.needs_grad
        and context.in_while
        and context.mask is not None
        and nodes.may_have_gradient(array.kind.dtype)
    ):
        raise context.refuse("order", "a store with gradients in a loop that iterations leave at different times")
    pieces = [wrapped(array.node, dim, piece) for dim, piece in enumerate(pieces)]
    if value.kind.rank > sum(
        p.index.kind.rank if isinstance(p, Gather) else isinstance(p, Whole | Cut) for p in pieces
    ):
        raise context.refuse("requirement", "a value of more dimensions than its place is stored")
    walked = [piece.axis for piece in pieces if isinstance(piece, Along)]
    inside = context.axes_inside(array.axes)
    free = [axis for axis in inside if axis not in walked]
    injective = (
        len(set(walked)) == len(walked)
        and not any(isinstance(p, Gather) for p in pieces)
        and not (set(walked) & set(array.axes))
    )
    if free or not injective:
        if array.var in context.when_apart or combine not in (None, *FOLDED):
            value = _once(context, array, pieces, value, combine)
            return _scatter(context, array, pieces, value, None, distinct=True)
        if combine is not None:
            _check_order(context, array, value, combine)
    fits = context.mask is None or all(
        is_inside(context, piece, array.shape[dim]) for dim, piece in enumerate(pieces) if isinstance(piece, Along)
    )
    if context.needs_grad and not fits and combine not in (None, "add", "sub"):
        raise context.refuse("order", f"'{combine}=' with gradients at places that may be outside of the array")
    if injective and not free and fits:
        store_slices(context, array, pieces, value, combine)
    elif injective and combine is None and context.mask is None:
        store_slices(context, array, pieces, _last(context, value, free), None)
    elif injective and combine in FOLDED and fits and _folds(array, free):
        _store_folded(context, array, pieces, value, combine, free)
    else:
        apart = not free and not set(walked) & set(array.axes)
        if apart and combine is None:
            apart = all(_goes_one_way(context, piece) for piece in pieces if isinstance(piece, Along))
        _scatter(context, array, pieces, value, combine, distinct=apart)


def _goes_one_way(context: Context, piece: Along) -> bool:
    """Whether no place that lanes which run speak of counts from the end, where it may be that of another lane."""
    if context.mask is None:
        return True  # it is required
    low, _ = bounds_of(piece)
    form = linear.linear_of(along_node(piece))
    said = [one for one, _ in linear.conditions(context.mask) if one is not None]
    if form is not None and any(_is_at_least(form, one) for one in said):
        return True
    if nodes.was_positive(nodes.lowest(low)):
        context.check_at_most(nodes.const(0), low)
        return True
    return False


def _is_at_least(form: linear.Linear, other: linear.Linear) -> bool:
    """Whether one sum is that of another one, or more."""
    gap = linear.minus(form, other)
    return not gap.terms and surely(nodes.const(0), gap.base)


def _check_order(context: Context, array: Array, value: Node, combine: str) -> None:
    """Several iterations combine with one place: they must be free to do it in another order."""
    name, floating = array.var.hint, nodes.may_have_gradient(array.kind.dtype)
    if combine not in FOLDED:
        raise context.refuse("order", f"'{combine}=' into places that may repeat")
    if floating and combine in ("add", "sub", "mul") and array.var in context.flow.deciding:
        if combine != "mul" and is_counted(context, array, value):
            return
        raise context.refuse("carried", f"'{name}' decides a branch or an index, so its sums must keep their order")
    if floating and context.needs_grad and combine not in ("add", "sub"):
        raise context.refuse("carried", f"the gradient of '{name}' depends on the order of its updates")


def _folds(array: Array, free: list[Axis]) -> bool:
    """Whether contributions can be reduced over axes first: NumPy widens the sums of small integers."""
    plain = array.kind.family == "tensor" or str(array.kind.dtype) in ("int64", "float32", "float64")
    return plain and not any(axis.is_ragged for axis in free)


def _store_folded(
    context: Context, array: Array, pieces: list[Piece], value: Node, combine: str, free: list[Axis]
) -> None:
    """Iterations of axes that the place does not speak of: their values are reduced, then stored once."""
    from looplift.vectorize.folding import check_product, folded

    if combine == "sub":
        value = nodes.negative(value, array.kind.dtype)
    operator = FOLDED[combine]
    kind = Kind(array.kind.family, array.kind.dtype, value.kind.rank)
    value = folded(context, Contribution(operator, value, context.mask, tuple(free)), free[0], kind)
    if operator == "mul":
        check_product(context, nodes.const(1.0), [value], kind)
    with context.unmasked():
        store_slices(context, array, pieces, value, operator)


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


def _loses_gradient(context: Context, array: Array, value: Node) -> bool:
    """Whether what was in the array asks for gradients, zeros then, that what replaces it does not ask for."""
    return context.needs_grad and bool(leaves(array.node) - leaves(value, surely=True))


def store_slices(context: Context, array: Array, pieces: list[Piece], value: Node, combine: str | None) -> None:
    for dim, piece in enumerate(pieces):
        check_store_range(context, array, dim, piece)
    lane_kind = Kind(array.kind.family, array.kind.dtype, sum(isinstance(p, Whole | Cut) for p in pieces))
    replaces = array.fresh and not array.written and _covers(array, pieces) and array.home is context.steps[-1]
    if replaces and combine in (None, "max", "min") and _loses_gradient(context, array, value):
        replaces = False
    if replaces and (context.mask is not None or combine is not None):
        value, combine = updated(context, array, pieces, value, combine, lane_kind), None
    if replaces:
        axes = [p.axis for p in pieces if isinstance(p, Along)]
        attrs = {"pieces": pieces, "axes": axes, "extents": list(array.shape), "shape": array.shape}
        attrs["fits"] = fitting.fits(context, array, pieces, value)
        array.node = Node("assemble", (value,), array.axes, array.kind, attrs, array.var.hint)
        return
    if context.mask is not None and context.needs_grad:
        context.check_some(context.mask)  # a write that changes nothing would still invalidate what backward keeps
    if combine is not None or context.mask is not None:
        bind(context, array)
        value = updated(context, array, pieces, value, combine, lane_kind)
    _write(context, array, pieces, value, "set")


def updated(context: Context, array: Array, pieces: list[Piece], value: Node, combine: str | None, kind: Kind) -> Node:
    """What is stored when the present value takes part: ``+=``, or lanes that do not store."""
    old = read_pieces_unchecked(array.node, pieces, kind)
    if array.written and combine is not None:
        old = as_it_was(context, combine, old, kind)
    if combine is not None:
        value = context_combine(context, combine, old, value, kind)
    if (mask := context.mask) is None:
        return value
    with context.unmasked():
        return context.select(mask, stored(value, kind), old, kind)


def as_it_was(context: Context, combine: str, old: Node, kind: Kind) -> Node:
    """What is changed, which a backward pass may need as it was: not what reads it in place."""
    if not context.needs_grad or combine in ("add", "sub"):
        return old
    return Node("method", (old,), old.axes, kind, {"name": "clone", "extents": None})


def stored(value: Node, kind: Kind) -> Node:
    """A value in the dtype of the array."""
    if nodes.lane_dtype(value.kind) == kind.dtype or (value.kind.is_number and not value.axes):
        return value
    return nodes.cast(value, kind.dtype)


def read_pieces_unchecked(base: Node, pieces: list[Piece], kind: Kind) -> Node:
    axes = tuple(p.axis for p in pieces if isinstance(p, Along))
    extents = [extent_of(base, dim) if isinstance(p, Whole) else None for dim, p in enumerate(pieces)]
    kept = [extent for extent, p in zip(extents, pieces, strict=True) if isinstance(p, Whole | Cut)]
    attrs = {"pieces": pieces, "extents": kept}
    return Node("slice", (base, *piece_nodes(pieces)), merge_axes(base.axes, axes), kind, attrs)


def context_combine(context: Context, combine: str, old: Node, value: Node, kind: Kind) -> Node:
    """``old`` combined with ``value`` as ``x[i] += v`` does it: in their common dtype, kept in that of the array."""
    from looplift.vectorize.arithmetic import arithmetic, common_kind

    wide = common_kind(context, [old, value], kind)
    if combine in ("max", "min"):
        better = arithmetic(context, "gt" if combine == "max" else "lt", [value, old], nodes.BOOL)
        return context.select(better, stored(value, kind), old, kind)
    if combine in ("maximum", "minimum"):
        combine = f"{context.library}.{combine}"
    node = arithmetic(context, combine, [old, value], wide)
    return node if wide.dtype == kind.dtype else nodes.cast(node, kind.dtype)


def check_comparable(context: Context, array: Array, value: Node) -> None:
    """What Python's ``max`` or ``min`` takes before what is in an array: which of two numbers that equal themselves
    stands first makes no difference."""
    from looplift.vectorize.folding import equals_itself

    if "float" not in str(array.kind.dtype):
        return
    context.check(nodes.compare("eq", value, value))
    if array.written or not _is_made_of_numbers(array.node):
        context.check(equals_itself(array.node))


def _is_made_of_numbers(made: Node) -> bool:
    """Whether an array was just made, of one number that is not NaN."""
    name = table.base_name(made.attrs["name"]) if made.op == "apply" else ""
    if name == "full":
        given = made.args[1] if made.attrs["positional"] == 2 else None
        return given is not None and given.op == "const" and given.attrs["value"] == given.attrs["value"]
    return name in ("zeros", "ones")


def check_store_range(context: Context, array: Array, dim: int, piece: Piece) -> None:
    if isinstance(piece, Along):
        low, high = bounds_of(piece)
        context.check_at_most(nodes.const(0), low)
        context.check_at_most(nodes.plus(high, nodes.const(1)), array.shape[dim])


def _write(context: Context, array: Array, pieces: list[Piece], value: Node, mode: str) -> None:
    bind(context, array)
    operands = (value, *piece_nodes(pieces))
    fits = fitting.never_fails(context, array, pieces, value)
    render = {"pieces": pieces, "mask": None, "fits": fits, "inside": True}
    context.add(Write(array.name, array.node, mode, operands, render))


def bind(context: Context, array: Array) -> None:
    """Give the array a name, so that it can be written in place."""
    if array.written:
        return
    if array.node.op != "name":
        from looplift.ir.array import Assign

        array.name = context.fresh_name(array.var.hint)
        made = array.node
        if made.op == "spread":  # one value shown in every lane would be one place in memory
            made = Node("owned", (made,), made.axes, made.kind, {"extents": list(array.shape)}, made.hint)
        context.add(Assign(array.name, made, memory=True))
        attrs = {"text": array.name, "extents": list(array.shape), "memory": True, "key": f"{array.name}#"}
        array.node = Node("name", (), array.node.axes, array.kind, attrs, array.name)
    else:
        array.name = array.node.attrs["text"]
        array.node.attrs["memory"] = True
    array.written = True


def _once(context: Context, array: Array, pieces: list[Piece], value: Node, combine: str | None) -> Node:
    """The value for places of which each is written by one lane, which is checked at every call."""
    from looplift.vectorize.indexing import read_pieces

    if context.mask is not None or any(isinstance(p, Gather) and p.index.kind.rank for p in pieces):
        raise context.refuse("order", f"'{array.var.hint}' is changed at places that may repeat, under an 'if'")
    chosen = [p for p in pieces if not isinstance(p, Whole | Cut)]
    indices = [along_node(p) if isinstance(p, Along) else p.index if isinstance(p, Gather) else p.at for p in chosen
               if isinstance(p, Along | Gather | Point)]  # fmt: skip
    spanned = {a for index in indices for axis in index.axes for a in (axis, *_line(axis))}
    if any(axis not in spanned for axis in context.axes_inside(array.axes)):
        raise context.refuse("order", f"'{array.var.hint}' is changed at one place by several iterations")
    dims = [dim for dim, p in enumerate(pieces) if not isinstance(p, Whole | Cut)]
    lanes = [index_node(axis) for axis in array.axes]
    if any(axis.is_ragged or axis.step != 1 or not nodes.is_const(axis.lo, 0) for axis in array.axes):
        raise context.refuse("order", f"'{array.var.hint}' is changed at places that may repeat")
    attrs = {"axes": context.active_axes(), "dims": [*range(-len(lanes), 0), *dims]}
    context.add_check(Node("places_apart", (array.node, *lanes, *indices), (), nodes.BOOL, attrs))
    if combine is None:
        return value
    bind(context, array)
    kind = Kind(array.kind.family, array.kind.dtype, sum(isinstance(p, Whole | Cut) for p in pieces))
    old = read_pieces(context, array.node, list(pieces), kind)
    if not any(isinstance(piece, Gather) and piece.index.axes for piece in pieces):
        old = as_it_was(context, combine, old, kind)
    return context_combine(context, combine, old, value, kind)


def _scatter(
    context: Context, array: Array, pieces: list[Piece], value: Node, combine: str | None, *, distinct: bool
) -> None:
    """Stores by index tensors: places may repeat, then they accumulate, or the last writer wins."""
    first, rank = wide_place(context, pieces)
    if first or (rank and combine is not None):
        raise context.refuse("order", "a store through an index tensor in each iteration, behind a slice or with '+='")
    if rank and not distinct and context.needs_grad:
        raise context.refuse("order", "a store through an index tensor, whose gradient goes to every value of a place")
    if combine == "sub":
        value, combine = nodes.negative(value, array.kind.dtype), "add"
    if combine in ("max", "min"):
        context.check(nodes.elementwise("eq", [value, value], nodes.BOOL))
    if context.mask is None:
        for dim, piece in enumerate(pieces):
            check_store_range(context, array, dim, piece)
    if combine is not None:
        for extent in array.shape:
            context.check_at_most(nodes.const(1), extent)  # index_add_ takes any place of a tensor without elements
    check_seen(context, pieces, lambda dim: array.shape[dim])
    for dim, piece in enumerate(pieces):
        check_place(context, piece, lambda dim=dim: array.shape[dim])
    given = pieces
    pieces = [Gather(along_node(p)) if isinstance(p, Along) else p for p in pieces]
    if value.kind.rank > rank + sum(isinstance(p, Whole | Cut) for p in pieces):
        raise context.refuse("requirement", "a value of more dimensions than its place is stored")
    bind(context, array)
    chosen = [k for k, p in enumerate(pieces) if isinstance(p, Gather | Point)]
    indices = tuple(p.index if isinstance(p, Gather) else p.at for p in pieces if isinstance(p, Gather | Point))
    axes = merge_axes(array.axes, context.active_axes())
    mask = (context.mask,) if context.mask is not None else ()
    doubts.check_stored(context, value)
    if mask and context.needs_grad:
        context.check_some(mask[0])
        context.check_taken(mask[0], value)
        doubts.check(context, value, mask[0])
        value = sheltered(context, value, mask[0])
    cuts = tuple(part for p in pieces if isinstance(p, Cut) for part in (p.lo, p.hi, p.step) if part is not None)
    render = {
        "axes": axes, "chosen": chosen, "pieces": pieces, "rank": rank, "count": len(indices),
        "masked": bool(mask), "distinct": distinct, "dtype": array.kind.dtype,
        "fits": fitting.never_fails(context, array, given, value), "inside": not mask and fitting.is_inside(given),
    }  # fmt: skip
    context.add(Write(array.name, array.node, combine or "last", (value, *indices, *mask, *cuts), render))
