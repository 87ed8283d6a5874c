"""The derivatives of operations: for the slope of a result, the slopes of what it was made of, as operations.

What a rule adds has the shape of the operand: where an operand was broadcast it is summed. Formulas are those of torch,
so that they depend on the same values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looplift.base.data import replace
from looplift.ir.grammar import Atom, Const, Group, Let, Op, Slice, Var
from looplift.ir.slopes import Rule, Slopes, argument, given, only

# ---------------------------------------------------------------- arithmetic


def _binary(flows: Callable[..., tuple[Callable[[], Atom], Callable[[], Atom]]]) -> Rule:
    def rule(s: Slopes, let: Let, slope: Atom) -> None:
        only(s, let, 2)
        a, b = let.op.args
        for operand, flow in zip((a, b), flows(s, a, b, let.var, slope)):
            s.add(operand, flow, s.shape(let.var))

    return rule


def _unary(flow: Callable[[Slopes, Any, Var, Atom], Atom]) -> Rule:
    def rule(s: Slopes, let: Let, slope: Atom) -> None:
        only(s, let, 1)
        s.add(let.op.args[0], lambda: flow(s, let.op.args[0], let.var, slope))

    return rule


def _mul(s: Slopes, a: Any, b: Any, _: Var, g: Atom) -> Any:
    return lambda: s.let("mul", g, b), lambda: s.let("mul", g, a)


def _truediv(s: Slopes, a: Any, b: Any, y: Var, g: Atom) -> Any:
    return lambda: s.let("truediv", g, b), lambda: s.let("mul", s.let("neg", g), s.let("truediv", y, b))


def _pow(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 2)
    base, exponent = let.op.args[0], given(let, 1, "exponent", ...)
    if type(exponent) not in (int, float) or exponent == 0:
        raise s.refusal("a gradient through a power that is no constant, or zero")
    factor = base if exponent == 2 else s.let("pow", base, Const(exponent - 1))
    s.add(base, lambda: s.let("mul", slope, s.let("mul", Const(exponent), factor)))


def _relu(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    """Zero where the result is not positive; the slope depends on the result there, by a slope of zero."""
    dead = s.let("torch.le", y, Const(0))
    none = s.let("mul", g, s.let("torch.sign", y)) if s.creates else Const(0.0)
    return s.let("torch.where", dead, none, g)


def _tanh(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    return s.let("mul", g, s.let("sub", Const(1), s.let("mul", y, y)))


def _sigmoid(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    return s.let("mul", s.let("mul", g, s.let("sub", Const(1), y)), y)


def _square(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    return s.let("mul", g, s.let("mul", Const(2), x))


def _where(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 3)
    mask, *sides = let.op.args
    if let.op.name == "method.where":
        sides[0], mask = mask, sides[0]
    for side, flow in zip(sides, ((slope, Const(0.0)), (Const(0.0), slope)), strict=True):
        s.add(side, lambda flow=flow: s.let("torch.where", mask, *flow), s.shape(let.var))


CLAMPED = {"clamp_min": {"min": 1}, "clamp_max": {"max": 1}}
"""Where the bounds stand among the arguments, of what does not take both."""


def _clamp(s: Slopes, let: Let, slope: Atom) -> None:
    """Zero outside of the bounds, which are numbers."""
    only(s, let, 3, "min", "max")
    x, inside = let.op.args[0], None
    for name, place in CLAMPED.get(let.op.name.rpartition(".")[2], {"min": 1, "max": 2}).items():
        bound = argument(let, place, name)
        if isinstance(bound, Const) and bound.value is None:
            continue
        if not isinstance(bound, Var | Const) or not s.facts.kind(bound).is_number:
            raise s.refusal(f"a gradient through '{let.op.name}' with bounds that are no numbers")
        within = s.let("torch.ge" if name == "min" else "torch.le", x, bound)
        inside = within if inside is None else s.let("torch.logical_and", inside, within)
    if inside is not None:
        s.add(x, s.let("torch.where", inside, slope, Const(0.0)))


# ---------------------------------------------------------------- reductions and losses


def _norm(s: Slopes, let: Let, slope: Atom) -> None:
    """Of squares; zero where that is zero."""
    x, order = let.op.args[0], given(let, 1, "ord" if "linalg" in let.op.name else "p")
    axes, keeps = given(let, 2, "dim"), given(let, 3, "keepdim", False)
    only(s, let, 4, "ord", "p", "dim", "keepdim")
    whole = axes is None and (order is None or order == "fro" or "linalg.norm" not in let.op.name)
    if order not in (None, "fro", 2) or not (whole or type(axes) is int) or type(keeps) is not bool:
        raise s.refusal(f"a gradient through '{let.op.name}' with arguments for which there is no rule")
    norm: Atom = let.var
    if axes is not None and not keeps:
        slope, norm = (s.let("method.unsqueeze", one, Const(axes)) for one in (slope, norm))
    unit = s.let("torch.where", s.let("eq", norm, Const(0)), Const(0.0), s.let("truediv", x, norm))
    s.add(x, lambda: s.let("mul", slope, unit))


def _sum(s: Slopes, let: Let, slope: Atom) -> None:
    s.add(let.op.args[0], lambda: _spread(s, let, slope))


def _mean(s: Slopes, let: Let, slope: Atom) -> None:
    x = let.op.args[0]
    s.add(x, lambda: s.let("truediv", _spread(s, let, slope), s.let("truediv", s.count(x), s.count(let.var))))


def _spread(s: Slopes, let: Let, slope: Atom) -> Atom:
    """The slope of a sum, for each element."""
    only(s, let, 3, "dim", "keepdim", "axis")
    x, axes = let.op.args[0], given(let, 1, "dim", given(let, 9, "axis"))
    keeps = given(let, 2, "keepdim", False)
    if axes is ... or keeps not in (True, False):
        raise s.refusal("a gradient through a sum over dimensions that are not known before the loop runs")
    rank = len(s.shape(x))
    if rank and slope in s.ones:
        return s.let("torch.ones_like", x)
    if axes is not None and not keeps:
        for axis in sorted(axis % rank for axis in (axes if isinstance(axes, tuple) else (axes,))):
            slope = s.let("method.unsqueeze", slope, Const(axis))
    return s.let("mul", s.let("torch.ones_like", x), slope) if rank else slope


def _reduction(s: Slopes, let: Let) -> str:
    only(s, let, 2, "reduction", "input", "target")
    return given(let, 9, "reduction", "mean")


def _mse(s: Slopes, let: Let, slope: Atom) -> None:
    kind, (a, b) = _reduction(s, let), let.op.args
    if kind not in ("mean", "sum", "none") or s.shape(a) != s.shape(b):
        raise s.refusal("a gradient through 'mse_loss' of tensors of different shapes")
    twice = s.let("mul", s.let("sub", a, b), Const(2.0))
    made = s.let("mul", twice, slope)
    if kind == "mean":
        made = s.let("truediv", made, s.count(a))
    s.add(a, made)
    s.add(b, lambda: s.let("neg", made))


IGNORED = -100
"""The class that 'cross_entropy' leaves out."""


def _cross_entropy(s: Slopes, let: Let, slope: Atom) -> None:
    kind, (x, target) = _reduction(s, let), let.op.args
    rank = len(s.shape(x))
    if kind not in ("mean", "sum") or rank not in (1, 2) or "int64" not in s.dtype(target):
        raise s.refusal("a gradient through 'cross_entropy' of something else than classes")
    classes = _extent(s, x, rank - 1)
    left_out = s.let("eq", target, Const(IGNORED))
    inside = s.let("torch.logical_and", s.let("torch.ge", target, Const(0)), s.let("torch.lt", target, classes))
    s.require(s.let("method.all", s.let("torch.logical_or", inside, left_out)), "a class of 'cross_entropy'")
    p = s.let("torch.softmax", x, Const(rank - 1))
    hot = s.let("eq", s.let("method.unsqueeze", target, Const(-1)), _positions(s, x, classes))
    made = s.let("mul", s.let("torch.where", hot, s.let("sub", p, Const(1)), p), slope)
    if kind == "mean" and rank == 2:
        made = s.let("truediv", made, s.let("method.sum", s.let("torch.ne", target, Const(IGNORED))))
    s.add(x, s.let("torch.where", s.let("method.unsqueeze", left_out, Const(-1)), Const(0.0), made))


def _logits(s: Slopes, let: Let, slope: Atom) -> None:
    kind, (x, target) = _reduction(s, let), let.op.args
    if kind not in ("mean", "sum", "none") or target in s.wanted or s.shape(x) != s.shape(target):
        raise s.refusal("a gradient through 'binary_cross_entropy_with_logits' of tensors of different shapes")
    made = s.let("mul", s.let("sub", s.let("torch.sigmoid", x), target), slope)
    s.add(x, s.let("truediv", made, s.count(x)) if kind == "mean" else made)


def _log_softmax(s: Slopes, let: Let, slope: Atom) -> None:
    x, axis = _axis(s, let)
    total = s.let("method.sum", slope, Const(axis), keepdim=Const(True))
    s.add(x, lambda: s.let("sub", slope, s.let("mul", s.let("torch.exp", let.var), total)))


def _softmax(s: Slopes, let: Let, slope: Atom) -> None:
    x, axis = _axis(s, let)
    made = s.let("mul", slope, let.var)
    total = s.let("method.sum", made, Const(axis), keepdim=Const(True))
    s.add(x, lambda: s.let("sub", made, s.let("mul", let.var, total)))


def _axis(s: Slopes, let: Let) -> tuple[Any, int]:
    only(s, let, 2, "dim")
    axis = given(let, 1, "dim", ...)
    if type(axis) is not int:
        raise s.refusal(f"a gradient through '{let.op.name}' along a dimension that is not known before the loop runs")
    return let.op.args[0], axis


# ---------------------------------------------------------------- products


def _linear(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 3)
    x, weight, *bias = let.op.args
    rank = len(s.shape(x))
    if rank not in (1, 2):
        raise s.refusal("a gradient through 'linear' of something else than a vector or a matrix")
    s.add(x, lambda: s.let("matmul", slope, weight))
    if rank == 1:
        s.add(weight, lambda: s.let("torch.outer", slope, x))
    else:
        s.add(weight, lambda: s.let("matmul", s.let("method.t", slope), x))
    for one in bias:
        s.add(one, slope, s.shape(let.var))


def _matmul(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 2)
    a, b = let.op.args
    ranks = len(s.shape(a)), len(s.shape(b))
    turned = lambda x: s.let("method.t", x)  # noqa: E731
    match ranks:
        case (1, 1):
            s.add(a, lambda: s.let("mul", slope, b))
            s.add(b, lambda: s.let("mul", slope, a))
        case (2, 1):
            s.add(a, lambda: s.let("torch.outer", slope, b))
            s.add(b, lambda: s.let("matmul", turned(a), slope))
        case (1, 2):
            s.add(a, lambda: s.let("matmul", b, slope))
            s.add(b, lambda: s.let("torch.outer", a, slope))
        case (2, 2):
            s.add(a, lambda: s.let("matmul", slope, turned(b)))
            s.add(b, lambda: s.let("matmul", turned(a), slope))
        case _:
            raise s.refusal("a gradient through a product of something else than vectors and matrices")


# ---------------------------------------------------------------- shapes and items


def _same(s: Slopes, let: Let, slope: Atom) -> None:
    s.add(let.op.args[0], slope)


def _unsqueeze(s: Slopes, let: Let, slope: Atom) -> None:
    x, axis = _axis(s, let)
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


def _transpose(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 1)
    s.add(let.op.args[0], lambda: s.let("method.t", slope) if len(s.shape(let.var)) == 2 else slope)


def _reshaped(s: Slopes, let: Let, slope: Atom) -> None:
    x = let.op.args[0]
    sizes = tuple(_extent(s, x, axis) for axis in range(len(s.shape(x))))
    s.add(x, lambda: s.let("method.reshape", slope, Group("tuple", sizes)))


def _extent(s: Slopes, x: Any, axis: int) -> Atom:
    return s.let("getitem", s.let("attribute", x, Const("shape")), Const(axis))


def _positions(s: Slopes, x: Any, extent: Atom) -> Atom:
    """The places of a dimension, where the tensor is."""
    return s.let("torch.arange", extent, **s.placed(x))


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
        end = s.let("add", begin, _extent(s, item, axis))
        part = Slice(begin, end, Const(None))
        index = Group("tuple", (*_whole(axis), part)) if axis else part
        s.add(item, lambda index=index: s.let("getitem", slope, index))
        begin = end


def _whole(count: int) -> tuple[Slice, ...]:
    return (Slice(Const(None), Const(None), Const(None)),) * count


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
    """``x[:, 0]``, ``x[i]``: zeros, but for the place that was read."""
    x: Any = let.op.args[0]
    if isinstance(x, Var) and isinstance(s.facts[x].sample, tuple):
        return _part(s, let, slope)
    index = let.op.args[1]
    parts = index.items if isinstance(index, Group) else (index,)
    rank, mask = len(s.shape(x)), None
    if s.facts[x].kind.is_array and all(map(_is_whole, parts)):
        return _reshaped(s, let, slope)
    if not s.facts[x].kind.is_array or len(parts) > rank:
        raise s.refusal("a gradient through an item of something else than a tensor")
    for axis, part in enumerate(parts):
        if isinstance(part, Slice):
            if any(not isinstance(one, Const) or one.value is not None for one in (part.lo, part.hi, part.step)):
                raise s.refusal("a gradient through a slice")
            continue
        if isinstance(part, Group) or not _is_place(s, part):
            raise s.refusal("a gradient through an item at something else than numbers")
        extent = _extent(s, x, axis)
        here = s.let("eq", _positions(s, x, extent), s.let("mod", part, extent))
        for _ in range(rank - axis - 1):
            here = s.let("method.unsqueeze", here, Const(-1))
        mask = here if mask is None else s.let("torch.logical_and", mask, here)
        slope = s.let("method.unsqueeze", slope, Const(axis))
    s.add(x, slope if mask is None else s.let("torch.where", mask, slope, Const(0.0)))


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


RULES: dict[str, Rule] = {
    "add": _binary(lambda s, a, b, y, g: (lambda: g, lambda: g)),
    "sub": _binary(lambda s, a, b, y, g: (lambda: g, lambda: s.let("neg", g))),
    "mul": _binary(_mul),
    "truediv": _binary(_truediv),
    "pow": _pow,
    "neg": _unary(lambda s, x, y, g: s.let("neg", g)),
    "square": _unary(_square),
    "exp": _unary(lambda s, x, y, g: s.let("mul", g, y)),
    "log": _unary(lambda s, x, y, g: s.let("truediv", g, x)),
    "log1p": _unary(lambda s, x, y, g: s.let("truediv", g, s.let("add", x, Const(1)))),
    "rsqrt": _unary(lambda s, x, y, g: s.let("mul", s.let("mul", Const(-0.5), g), s.let("pow", y, Const(3)))),
    "sin": _unary(lambda s, x, y, g: s.let("mul", g, s.let("torch.cos", x))),
    "cos": _unary(lambda s, x, y, g: s.let("mul", g, s.let("neg", s.let("torch.sin", x)))),
    "sqrt": _unary(lambda s, x, y, g: s.let("truediv", g, s.let("mul", Const(2), y))),
    "abs": _unary(lambda s, x, y, g: s.let("mul", g, s.let("torch.sign", x))),
    "tanh": _unary(_tanh),
    "sigmoid": _unary(_sigmoid),
    "relu": _unary(_relu),
    "where": _where,
    "clamp": _clamp,
    "clip": _clamp,
    "clamp_min": _clamp,
    "clamp_max": _clamp,
    "norm": _norm,
    "torch.linalg.norm": _norm,
    "torch.linalg.vector_norm": _norm,
    "sum": _sum,
    "mean": _mean,
    "mse_loss": _mse,
    "cross_entropy": _cross_entropy,
    "binary_cross_entropy_with_logits": _logits,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "linear": _linear,
    "matmul": _matmul,
    "mm": _matmul,
    "mv": _matmul,
    "dot": _matmul,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    "t": _transpose,
    "reshape": _reshaped,
    "view": _reshaped,
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
"""By the name that functions and methods share."""
