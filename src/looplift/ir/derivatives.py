"""The derivatives of operations: for the slope of a result, the slopes of what it was made of, as operations.

What a rule adds has the shape of the operand: where an operand was broadcast it is summed. Formulas are those of torch,
so that they depend on the same values.
"""

from __future__ import annotations

from typing import Any

from looplift.base.data import replace
from looplift.ir import elementwise_derivatives, reduction_derivatives
from looplift.ir.grammar import Atom, Const, Group, Let, Op, Slice, Var
from looplift.ir.slopes import Rule, Slopes, argument, axis_of, extent, given, group, only, positions

# ---------------------------------------------------------------- products


def _turned(s: Slopes, x: Any) -> Atom:
    return s.let("method.t", x) if len(s.shape(x)) == 2 else s.let("method.transpose", x, Const(-1), Const(-2))


def _linear(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 3, "bias")
    x, weight, bias = let.op.args[0], let.op.args[1], argument(let, 2, "bias", None)
    rank = len(s.shape(x))
    if not rank or len(s.shape(weight)) != 2:
        raise s.refusal("a gradient through 'linear' of something else than vectors and a matrix")
    s.add(x, lambda: s.let("matmul", slope, weight))
    if rank == 1:
        s.add(weight, lambda: s.let("torch.outer", slope, x))
    else:
        s.add(weight, lambda: s.let("matmul", s.let("method.t", _rows(s, slope, rank)), _rows(s, x, rank)))
    s.add(bias, slope, s.shape(let.var))


def _rows(s: Slopes, x: Any, rank: int) -> Atom:
    """All vectors in the last dimension, below one another."""
    return x if rank == 2 else s.let("torch.flatten", x, Const(0), Const(-2))


def _matmul(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 2)
    a, b = let.op.args
    match len(s.shape(a)), len(s.shape(b)):
        case (1, 1):
            s.add(a, lambda: s.let("mul", slope, b))
            s.add(b, lambda: s.let("mul", slope, a))
        case (2, 1):
            s.add(a, lambda: s.let("torch.outer", slope, b))
            s.add(b, lambda: s.let("matmul", _turned(s, a), slope))
        case (1, 2):
            s.add(a, lambda: s.let("matmul", b, slope))
            s.add(b, lambda: s.let("torch.outer", a, slope))
        case (1, _) | (_, 1):
            raise s.refusal("a gradient through a product of a vector and several matrices")
        case _:
            batch = s.shape(let.var)[:-2]
            s.add(a, lambda: s.let("matmul", slope, _turned(s, b)), (*batch, *s.shape(a)[-2:]))
            s.add(b, lambda: s.let("matmul", _turned(s, a), slope), (*batch, *s.shape(b)[-2:]))


def _outer(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 2)
    a, b = let.op.args
    s.add(a, lambda: s.let("matmul", slope, b))
    s.add(b, lambda: s.let("matmul", a, slope))


def _addmm(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 3)
    added, *factors = let.op.args
    s.add(added, slope, s.shape(let.var))
    _matmul(s, replace(let, op=Op("matmul", tuple(factors))), slope)


def _einsum(s: Slopes, let: Let, slope: Atom) -> None:
    """The slope of one factor is the product of the others and of the slope, along its own letters."""
    equation, *factors = let.op.args
    if len(factors) == 1 and isinstance(factors[0], Group):
        factors = list(factors[0].items)
    text = equation.value.replace(" ", "") if isinstance(equation, Const) and isinstance(equation.value, str) else ""
    inputs, arrow, output = text.partition("->")
    letters = inputs.split(",")
    if not arrow or "." in text or let.op.kwargs or len(letters) != len(factors):
        raise s.refusal("a gradient through 'einsum' without '->', or with '...'")
    sizes = [dict(zip(names, s.shape(one))) for names, one in zip(letters, factors)]
    for place, (names, factor) in enumerate(zip(letters, factors)):
        others = [k for k in range(len(factors)) if k != place]
        rest = {*output}.union(*(letters[k] for k in others))
        if factor not in s.wanted:
            continue
        uneven = any(size != one[name] for name, size in sizes[place].items() for one in sizes if name in one)
        if len({*names}) != len(names) or not {*names} <= rest or uneven:
            raise s.refusal("a gradient through 'einsum' along a dimension of one factor alone")
        made = f"{','.join([output, *(letters[k] for k in others)])}->{names}"
        s.add(factor, s.let("torch.einsum", Const(made), slope, *(factors[k] for k in others)))


def _embedding(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 3, "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")
    places, weight = let.op.args[0], let.op.args[1]
    plain = (given(let, 2, "padding_idx"), given(let, 9, "max_norm"), given(let, 9, "scale_grad_by_freq", False))
    if plain != (None, None, False) or given(let, 9, "sparse", False) is not False:
        raise s.refusal("a gradient through 'embedding' with options for which there is no rule")
    rank = len(s.shape(places))
    flat = s.let("method.reshape", places, Const(-1))
    rows = s.let("method.unsqueeze", slope, Const(0)) if not rank else slope
    s.add(weight, lambda: _gathered_rows(s, weight, flat, rows if rank < 2 else _rows(s, rows, rank + 1)))


def _gathered_rows(s: Slopes, x: Any, places: Atom, rows: Atom) -> Atom:
    """Zeros, and at each place the sum of the rows that were read there."""
    return s.let("torch.index_add", s.let("torch.zeros_like", x), Const(0), places, rows)


# ---------------------------------------------------------------- shapes and items


def _same(s: Slopes, let: Let, slope: Atom) -> None:
    s.add(let.op.args[0], slope)


def _unsqueeze(s: Slopes, let: Let, slope: Atom) -> None:
    x, axis = axis_of(s, let)
    s.add(x, lambda: s.let("method.squeeze", slope, Const(axis)))


def _squeeze(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 2, "dim")
    x, axis = let.op.args[0], given(let, 1, "dim")
    gone = [k for k, extent in enumerate(s.shape(x)) if extent == 1] if axis is None else [axis]
    if axis is not None and (type(axis) is not int or s.shape(x)[axis] != 1):
        raise s.refusal("a gradient through 'squeeze' of a dimension with several elements")
    for one in gone:
        slope = s.let("method.unsqueeze", slope, Const(one))
    s.add(x, slope)


def _t(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 1)
    s.add(let.op.args[0], lambda: s.let("method.t", slope) if len(s.shape(let.var)) == 2 else slope)


def _transpose(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 3, "dim0", "dim1")
    axes = given(let, 1, "dim0", ...), given(let, 2, "dim1", ...)
    if any(type(axis) is not int for axis in axes):
        raise s.refusal("a gradient through 'transpose' of dimensions that are not known before the loop runs")
    s.add(let.op.args[0], lambda: s.let("method.transpose", slope, *map(Const, axes)))


def _permute(s: Slopes, let: Let, slope: Atom) -> None:
    x, rank = let.op.args[0], len(s.shape(let.var))
    axes = (
        given(let, 1, "dims", ...)
        if len(let.op.args) < 3
        else tuple(given(let, k, "", ...) for k in range(1, rank + 1))
    )
    if let.op.kwargs or not isinstance(axes, tuple) or any(type(axis) is not int for axis in axes):
        raise s.refusal("a gradient through 'permute' of dimensions that are not known before the loop runs")
    order = [axis % rank for axis in axes]
    s.add(x, lambda: s.let("method.permute", slope, group(*(order.index(axis) for axis in range(rank)))))


def _expanded(s: Slopes, let: Let, slope: Atom) -> None:
    s.add(let.op.args[0], slope, s.shape(let.var))


def _flip(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 2, "dims")
    s.add(let.op.args[0], lambda: s.let("method.flip", slope, argument(let, 1, "dims", None)))


def _triangle(name: str) -> Rule:
    def rule(s: Slopes, let: Let, slope: Atom) -> None:
        only(s, let, 2, "diagonal")
        s.add(let.op.args[0], lambda: s.let(name, slope, argument(let, 1, "diagonal", 0)))

    return rule


def _index_select(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 3, "dim", "index")
    x, axis, places = let.op.args[0], argument(let, 1, "dim", None), argument(let, 2, "index", None)
    s.add(x, lambda: s.let("torch.index_add", s.let("torch.zeros_like", x), axis, places, slope))


def _gather(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 3, "dim", "index")
    x, axis, places = let.op.args[0], argument(let, 1, "dim", None), argument(let, 2, "index", None)
    s.add(x, lambda: s.let("torch.scatter_add", s.let("torch.zeros_like", x), axis, places, slope))


def _reshaped(s: Slopes, let: Let, slope: Atom) -> None:
    x = let.op.args[0]
    sizes = tuple(extent(s, x, axis) for axis in range(len(s.shape(x))))
    s.add(x, lambda: s.let("method.reshape", slope, Group("tuple", sizes)))


def _items(s: Slopes, let: Let) -> tuple[tuple[Any, ...], int]:
    """The tensors that are joined, and the dimension along which."""
    only(s, let, 2, "dim")
    items, axis = let.op.args[0], given(let, 1, "dim", 0)
    items = s.items_of(items)
    if items is None or type(axis) is not int:
        raise s.refusal(f"a gradient through '{let.op.name}' of a list that is not known item by item")
    return items.items, axis % len(s.shape(let.var))


def _cat(s: Slopes, let: Let, slope: Atom) -> None:
    items, axis = _items(s, let)
    begin: Atom = Const(0)
    for item in items:
        end = s.let("add", begin, extent(s, item, axis))
        part = Slice(begin, end, Const(None))
        index = Group("tuple", (*_whole(axis), part)) if axis else part
        s.add(item, lambda index=index: s.let("getitem", slope, index))
        begin = end


_WHOLE = Slice(Const(None), Const(None), Const(None))
_FIRST = Slice(Const(0), Const(1), Const(None))


def _whole(count: int) -> tuple[Slice, ...]:
    return (_WHOLE,) * count


def _stack(s: Slopes, let: Let, slope: Atom) -> None:
    items, axis = _items(s, let)
    for place, item in enumerate(items):
        index = Group("tuple", (*_whole(axis), Const(place))) if axis else Const(place)
        s.add(item, lambda index=index: s.let("getitem", slope, index))


def _is_place(s: Slopes, part: Atom) -> bool:
    """Whether a part of a subscript is one number."""
    kind = s.facts[part].kind
    return kind.family == "int" or (kind.is_array and kind.rank == 0 and str(kind.dtype) == "torch.int64")


def _part(s: Slopes, let: Let, slope: Atom) -> None:
    """One of the results of an operation: ``torch.max(x, 0).values``, ``q, r = torch.linalg.qr(x)``."""
    several, place = let.op.args[0], let.op.args[1]
    sample = s.facts[several].sample if isinstance(several, Var) and isinstance(place, Const) else None
    if not isinstance(sample, tuple):
        raise s.refusal("a gradient through an item of something else than a tensor")
    assert isinstance(several, Var) and isinstance(place, Const)
    index: Any = place.value
    if (items := s.items_of(several)) is not None:
        s.add(items.items[index], slope)
        return
    if isinstance(index, str):
        index = next(k for k, item in enumerate(sample) if item is getattr(sample, index, None))
    s.add_part(several, index % len(sample), slope)


def _is_whole(part: Any) -> bool:
    """Whether a part of a subscript is ``:``, ``...`` or ``None``."""
    if isinstance(part, Slice):
        return all(isinstance(one, Const) and one.value is None for one in (part.lo, part.hi, part.step))
    return isinstance(part, Const) and (part.value is None or part.value is ...)


def _getitem(s: Slopes, let: Let, slope: Atom) -> None:
    """``x[:, 0]``, ``x[i]``, ``x[2:]``: zeros, but for the places that were read."""
    x: Any = let.op.args[0]
    if isinstance(x, Var) and isinstance(s.facts[x].sample, tuple):
        return _part(s, let, slope)
    index = let.op.args[1]
    parts = index.items if isinstance(index, Group) else (index,)
    if isinstance(x, Var) and s.facts[x].kind.is_array and all(map(_is_whole, parts)):
        return _reshaped(s, let, slope)
    if not s.facts[x].kind.is_array or len(parts) > len(s.shape(x)):
        raise s.refusal("a gradient through an item of something else than a tensor")
    if len(parts) == 1 and _is_list_of_places(s, parts[0]):
        places = s.let("mod", parts[0], extent(s, x, 0))
        return s.add(x, lambda: _gathered_rows(s, x, places, slope))
    s.add(x, _widened(s, x, parts, slope))


def _is_list_of_places(s: Slopes, part: Any) -> bool:
    kind = s.facts[part].kind if isinstance(part, Var) else None
    return kind is not None and kind.is_array and kind.rank == 1 and str(kind.dtype) == "torch.int64"


def _widened(s: Slopes, x: Any, parts: tuple[Any, ...], slope: Atom) -> Atom:
    """The slope of what was read, in the shape of what it was read from: zeros beside the places."""
    rank, mask = len(s.shape(x)), None
    for axis, part in enumerate(parts):
        if isinstance(part, Slice):
            slope = _padded(s, x, axis, parts, slope)
            continue
        if isinstance(part, Group) or not _is_place(s, part):
            raise s.refusal("a gradient through an item at something else than numbers")
        size = extent(s, x, axis)
        here = s.let("eq", positions(s, x, size), s.let("mod", part, size))
        for _ in range(rank - axis - 1):
            here = s.let("method.unsqueeze", here, Const(-1))
        mask = here if mask is None else s.let("torch.logical_and", mask, here)
        slope = s.let("method.unsqueeze", slope, Const(axis))
    return slope if mask is None else s.let("torch.where", mask, slope, Const(0.0))


def _padded(s: Slopes, x: Any, axis: int, parts: tuple[Any, ...], slope: Atom) -> Atom:
    """What a slice has read, with zeros in front of it and behind it; dimensions in front are as wide as they will be,
    those behind as they were read."""
    part = parts[axis]
    lo: Any
    hi: Any
    lo, hi, step = (one.value if isinstance(one, Const) else ... for one in (part.lo, part.hi, part.step))
    if any(one is not None and type(one) is not int for one in (lo, hi)) or step not in (None, 1):
        raise s.refusal("a gradient through a slice whose bounds are not known before the loop runs")
    if lo is not None and hi is not None:
        if lo < 0 <= hi or ((lo < 0) == (hi < 0) and hi < lo):
            raise s.refusal("a gradient through a slice whose second bound may be in front of the first one")
        if hi < 0 <= lo:
            s.require(s.let("ge", extent(s, x, axis), Const(lo - hi)), "a slice")
    before = tuple(_WHOLE if isinstance(one, Slice) else _FIRST for one in parts[:axis])

    def zeros(part: Slice) -> Atom:
        read = s.let("getitem", x, Group("tuple", (*before, part, *parts[axis + 1 :])))
        return s.let("torch.zeros_like", read)

    pieces = [slope]
    if lo:
        pieces.insert(0, zeros(Slice(Const(None), Const(lo), Const(None))))
    if hi is not None:
        pieces.append(zeros(Slice(Const(hi), Const(None), Const(None))))
    return slope if len(pieces) == 1 else s.let("torch.cat", Group("list", tuple(pieces)), Const(axis))


def _unpacked(s: Slopes, let: Let, slope: Atom) -> None:
    """``a, b = torch.max(x, 0)``; of a tensor its rows."""
    item = Op("getitem", let.op.args[:2])
    _getitem(s, replace(let, op=item), slope)


def _attribute(s: Slopes, let: Let, slope: Atom) -> None:
    """``x.T``, ``torch.max(x, 0).values``."""
    x: Any = let.op.args[0]
    name = let.op.args[1]
    if s.facts[x].kind.is_array and isinstance(name, Const) and name.value in ("T", "mT") and len(s.shape(x)) == 2:
        s.add(x, lambda: s.let("method.t", slope))
    else:
        _part(s, let, slope)


RULES: dict[str, Rule] = (
    elementwise_derivatives.RULES
    | reduction_derivatives.RULES
    | {
        "linear": _linear,
        "matmul": _matmul,
        "mm": _matmul,
        "mv": _matmul,
        "dot": _matmul,
        "bmm": _matmul,
        "outer": _outer,
        "addmm": _addmm,
        "einsum": _einsum,
        "embedding": _embedding,
        "unsqueeze": _unsqueeze,
        "squeeze": _squeeze,
        "t": _t,
        "transpose": _transpose,
        "swapaxes": _transpose,
        "permute": _permute,
        "expand": _expanded,
        "expand_as": _expanded,
        "broadcast_to": _expanded,
        "flip": _flip,
        "tril": _triangle("torch.tril"),
        "triu": _triangle("torch.triu"),
        "index_select": _index_select,
        "gather": _gather,
        "reshape": _reshaped,
        "view": _reshaped,
        "unflatten": _reshaped,
        "flatten": _reshaped,
        "stack": _stack,
        "cat": _cat,
        "list": lambda s, let, slope: None,
        "tuple": lambda s, let, slope: None,
        "getitem": _getitem,
        "iter_item": _getitem,
        "unpack": _unpacked,
        "attribute": _attribute,
        "clone": _same,
        "contiguous": _same,
    }
)
"""By the name that functions and methods share."""
