"""Derivatives of reductions, of losses, and of what makes its elements comparable: softmax and the norms of layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looplift.ir import elementwise_derivatives
from looplift.ir.grammar import Atom, Const, Group, Let, Operand, Var
from looplift.ir.slopes import Rule, Slopes, argument, axis_of, extent, given, group, only, positions

# ---------------------------------------------------------------- reductions


def _sum(s: Slopes, let: Let, slope: Atom) -> None:
    s.add(let.op.args[0], lambda: _spread(s, let, slope))


def _mean(s: Slopes, let: Let, slope: Atom) -> None:
    x = let.op.args[0]
    s.add(x, lambda: s.let("truediv", _spread(s, let, slope), s.let("truediv", s.count(x), s.count(let.var))))


def _spread(s: Slopes, let: Let, slope: Atom) -> Atom:
    """The slope of a sum, for each element."""
    only(s, let, 3, "dim", "keepdim", "axis")
    x, (slope,) = let.op.args[0], _beside(s, let, 1, slope)
    return s.let("mul", s.let("torch.ones_like", x), slope) if s.shape(x) else slope


def _beside(s: Slopes, let: Let, place: int, *reduced: Atom) -> list[Atom]:
    """What has the shape of a result, with the dimensions that are reduced as ones of one element.

    The dimensions are the argument at some place, whether they are kept the one behind it.
    """
    x, axes = let.op.args[0], given(let, place, "dim", given(let, 9, "axis"))
    keeps, rank = given(let, place + 1, "keepdim", False), len(s.shape(x))
    if axes is ... or isinstance(axes, bool) or keeps not in (True, False):
        raise s.refusal(f"a gradient through '{let.op.name}' over dimensions that are not known before the loop runs")
    if axes is None or axes == () or keeps or not rank:
        return list(reduced)
    places = sorted(axis % rank for axis in (axes if isinstance(axes, tuple) else (axes,)))
    return [_unsqueezed(s, one, places) for one in reduced]


def _unsqueezed(s: Slopes, one: Atom, places: list[int]) -> Atom:
    for axis in places:
        one = s.let("method.unsqueeze", one, Const(axis))
    return one


def _keeping(let: Let) -> dict[str, Operand]:
    """The options by which an operation reduces the same dimensions and keeps them."""
    axes = argument(let, 1, "dim", None)
    return {} if _is_none(axes) else {"dim": axes, "keepdim": Const(True)}


def _extreme(s: Slopes, let: Let, slope: Atom) -> None:
    """``amax`` and ``amin``: elements that are equal share the slope, and NaN, which equals nothing, has NaN."""
    only(s, let, 3, "dim", "keepdim")
    x = let.op.args[0]
    if not s.shape(x):
        hit = s.let("torch.eq", x, x)
        return s.add(x, lambda: s.let("truediv", s.let("mul", slope, hit), hit))
    slope, y = _beside(s, let, 1, slope, let.var)
    hits = s.let("torch.eq", x, y)
    over = _keeping(let) if given(let, 1, "dim") != () else {}
    s.add(x, lambda: s.let("truediv", s.let("mul", slope, hits), s.let("method.sum", hits, **over)))


def _max_or_min(of_two: str) -> Rule:
    """Of two tensors, or of all elements of one: those that are equal share the slope, and so do all that are NaN."""

    def rule(s: Slopes, let: Let, slope: Atom) -> None:
        x, *others = let.op.args
        if len(others) == 1 and isinstance(others[0], Var) and s.facts.kind(others[0]).is_array:
            return elementwise_derivatives.RULES[of_two](s, let, slope)
        only(s, let, 1)
        both = s.let("torch.logical_and", s.let("torch.isnan", x), s.let("torch.isnan", let.var))
        hits = s.let("torch.logical_or", s.let("torch.eq", x, let.var), both)
        share = s.let("truediv", slope, s.let("method.sum", hits))
        s.add(x, s.let("torch.where", hits, share, Const(0.0)))

    return rule


def _logsumexp(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 3, "dim", "keepdim")
    x, (slope, y) = let.op.args[0], _beside(s, let, 1, slope, let.var)
    s.add(x, lambda: s.let("mul", slope, s.let("torch.exp", s.let("sub", x, y))))


def _norm(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 4, "p", "ord", "dim", "keepdim")
    x, order = let.op.args[0], given(let, 1, "p", given(let, 9, "ord"))
    is_of_matrices = let.op.name == "torch.linalg.norm" and len(s.shape(x)) > 1
    if order not in (None, "fro", 2) or (order == 2 and is_of_matrices):
        raise s.refusal(f"a gradient through '{let.op.name}' of an order that is not the second")
    slope, y = _beside(s, let, 2, slope, let.var)
    flat = s.let("torch.eq", y, Const(0))
    s.add(x, lambda: s.let("torch.where", flat, Const(0.0), s.let("mul", x, s.let("truediv", slope, y))))


def _variance(s: Slopes, let: Let, slope: Atom) -> None:
    s.add(let.op.args[0], lambda: _spread_of_squares(s, let, slope))


def _deviation(s: Slopes, let: Let, slope: Atom) -> None:
    halved = s.let("truediv", slope, s.let("mul", let.var, Const(2)))
    halved = s.let("torch.where", s.let("torch.eq", let.var, Const(0)), Const(0.0), halved)
    s.add(let.op.args[0], lambda: _spread_of_squares(s, let, halved))


def _spread_of_squares(s: Slopes, let: Let, slope: Atom) -> Atom:
    """The slope of a variance, for each element."""
    only(s, let, 2, "dim", "unbiased", "correction", "keepdim")
    x = let.op.args[0]
    correction = given(let, 9, "correction", given(let, 9, "unbiased", True))
    if type(correction) not in (int, float, bool):
        raise s.refusal(f"a gradient through '{let.op.name}' with a correction that is not known before the loop runs")
    (slope,) = _beside(s, let, 1, slope)
    count = s.let("truediv", s.count(x), s.count(let.var))
    scale = s.let("truediv", Const(2.0), s.let("sub", count, Const(float(correction))))
    return s.let("mul", s.let("mul", slope, scale), s.let("sub", x, s.let("method.mean", x, **_keeping(let))))


def _cumsum(s: Slopes, let: Let, slope: Atom) -> None:
    x, axis = axis_of(s, let)
    turned = lambda one: s.let("torch.flip", one, group(axis))  # noqa: E731
    s.add(x, lambda: turned(s.let("torch.cumsum", turned(slope), Const(axis))) if s.shape(x) else slope)


# ---------------------------------------------------------------- losses

DEFAULTS = {"ignore_index": -100, "label_smoothing": 0.0, "log_target": False}
"""Options of losses that only have rules for these; weights and the like must be None."""


def _reduction(s: Slopes, let: Let, *options: str) -> str:
    known = {"reduction", "input", "target", *options}
    rest = [("weight", one) for one in let.op.args[2:]]
    rest += [(name, one) for name, one in let.op.kwargs if name not in known]
    for name, one in rest:
        if not isinstance(one, Const) or one.value != DEFAULTS.get(name):
            raise s.refusal(f"a gradient through '{let.op.name}' with arguments for which there is no rule")
    return given(let, 9, "reduction", "mean")


def _two(s: Slopes, let: Let) -> tuple[Any, Any]:
    """What a loss compares."""
    return argument(let, 0, "input", None), argument(let, 1, "target", None)


def _element_loss(steep: Callable[..., Atom], *options: str, both: bool = True) -> Rule:
    """The rule of a loss that sums up what it has for each element."""

    def rule(s: Slopes, let: Let, slope: Atom) -> None:
        kind, (a, b) = _reduction(s, let, *options), _two(s, let)
        if kind not in ("mean", "sum", "none") or s.shape(a) != s.shape(b) or (not both and b in s.wanted):
            raise s.refusal(f"a gradient through '{let.op.name}' of tensors of different shapes, or by its target")
        made = steep(s, a, b, slope, *(dict(let.op.kwargs).get(name, Const(1.0)) for name in options))
        made = s.let("truediv", made, s.count(a)) if kind == "mean" else made
        s.add(a, made)
        if both:
            s.add(b, lambda: s.let("neg", made))

    return rule


def _squared(s: Slopes, a: Any, b: Any, g: Atom) -> Atom:
    return s.let("mul", s.let("mul", s.let("sub", a, b), Const(2.0)), g)


def _absolute(s: Slopes, a: Any, b: Any, g: Atom) -> Atom:
    return s.let("mul", s.let("torch.sign", s.let("sub", a, b)), g)


def _smooth(s: Slopes, a: Any, b: Any, g: Atom, beta: Operand) -> Atom:
    apart = s.let("sub", a, b)
    near = s.let("truediv", s.let("mul", apart, g), beta)
    far = s.let("mul", s.let("torch.sign", apart), g)
    return s.let("torch.where", s.let("torch.ge", s.let("torch.abs", apart), beta), far, near)


def _huber(s: Slopes, a: Any, b: Any, g: Atom, delta: Operand) -> Atom:
    apart = s.let("sub", a, b)
    far = s.let("mul", s.let("torch.sign", apart), s.let("mul", g, delta))
    return s.let("torch.where", s.let("torch.ge", s.let("torch.abs", apart), delta), far, s.let("mul", apart, g))


def _by_logits(s: Slopes, x: Any, target: Any, g: Atom) -> Atom:
    return s.let("mul", s.let("sub", s.let("torch.sigmoid", x), target), g)


def _by_chances(s: Slopes, x: Any, target: Any, g: Atom) -> Atom:
    s.check_no_graph("binary_cross_entropy")
    flat = s.let("mul", s.let("sub", Const(1), x), x)
    steep = s.let("truediv", s.let("sub", x, target), s.let("torch.clamp_min", flat, Const(1e-12)))
    return s.let("mul", steep, g)


def _kl_div(s: Slopes, let: Let, slope: Atom) -> None:
    kind, (x, target) = _reduction(s, let), _two(s, let)
    if kind not in ("mean", "sum", "none", "batchmean") or s.shape(x) != s.shape(target) or target in s.wanted:
        raise s.refusal("a gradient through 'kl_div' of tensors of different shapes, or by its target")
    made = s.let("mul", s.let("neg", target), slope)
    if kind == "batchmean":
        made = s.let("truediv", made, extent(s, x, 0))
    s.add(x, s.let("truediv", made, s.count(x)) if kind == "mean" else made)


IGNORED = -100
"""The class that 'cross_entropy' leaves out."""


def _cross_entropy(s: Slopes, let: Let, slope: Atom) -> None:
    _of_classes(s, let, slope, lambda x, hot: _apart_from(s, x, hot))


def _nll_loss(s: Slopes, let: Let, slope: Atom) -> None:
    _of_classes(s, let, slope, lambda x, hot: s.let("torch.where", hot, Const(-1.0), s.let("torch.zeros_like", x)))


def _apart_from(s: Slopes, x: Any, hot: Atom) -> Atom:
    """Chances, less one for the class that it is."""
    p = s.let("torch.softmax", x, Const(len(s.shape(x)) - 1))
    return s.let("torch.where", hot, s.let("sub", p, Const(1)), p)


def _of_classes(s: Slopes, let: Let, slope: Atom, steep: Callable[[Any, Atom], Atom]) -> None:
    """The slope of a loss of the class that it is, in the last dimension; ``steep`` gives that of one row."""
    kind, (x, target) = _reduction(s, let), _two(s, let)
    rank = len(s.shape(x))
    if kind not in ("mean", "sum", "none") or rank not in (1, 2) or "int64" not in s.dtype(target):
        raise s.refusal(f"a gradient through '{let.op.name}' of something else than classes")
    classes = extent(s, x, rank - 1)
    left_out = s.let("eq", target, Const(IGNORED))
    inside = s.let("torch.logical_and", s.let("torch.ge", target, Const(0)), s.let("torch.lt", target, classes))
    s.require(s.let("method.all", s.let("torch.logical_or", inside, left_out)), f"a class of '{let.op.name}'")
    hot = s.let("eq", s.let("method.unsqueeze", target, Const(-1)), positions(s, x, classes))
    if kind == "none":
        slope = s.let("method.unsqueeze", slope, Const(-1))
    if kind == "mean" and rank == 2:
        slope = s.let("truediv", slope, s.let("method.sum", s.let("torch.ne", target, Const(IGNORED))))
    slope = s.let("torch.where", s.let("method.unsqueeze", left_out, Const(-1)), Const(0.0), slope)
    s.add(x, s.let("mul", steep(x, hot), slope))


# ---------------------------------------------------------------- softmax and norms of layers


def _log_softmax(s: Slopes, let: Let, slope: Atom) -> None:
    x, axis = axis_of(s, let)
    total = s.let("method.sum", slope, Const(axis), keepdim=Const(True))
    s.add(x, lambda: s.let("sub", slope, s.let("mul", s.let("torch.exp", let.var), total)))


def _softmax(s: Slopes, let: Let, slope: Atom) -> None:
    x, axis = axis_of(s, let)
    made = s.let("mul", slope, let.var)
    total = s.let("method.sum", made, Const(axis), keepdim=Const(True))
    s.add(x, lambda: s.let("sub", made, s.let("mul", let.var, total)))


def _layer_norm(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 5, "weight", "bias", "eps")
    x, axes = let.op.args[0], _last_axes(s, let)
    weight, bias = argument(let, 2, "weight", None), argument(let, 3, "bias", None)
    apart = s.let("sub", x, _mean_over(s, x, axes))
    narrow = _narrowing(s, _mean_over(s, s.let("mul", apart, apart), axes), argument(let, 4, "eps", 1e-5))
    normal = s.let("mul", apart, narrow)
    weighted = _weighted(s, slope, weight)
    even = s.let("sub", weighted, _mean_over(s, weighted, axes))
    along = s.let("mul", normal, _mean_over(s, s.let("mul", weighted, normal), axes))
    s.add(x, lambda: s.let("mul", narrow, s.let("sub", even, along)))
    s.add(weight, lambda: s.let("mul", slope, normal), s.shape(x))
    s.add(bias, slope, s.shape(x))


def _rms_norm(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 4, "weight", "eps")
    x: Any = let.op.args[0]
    axes = _last_axes(s, let)
    weight, eps = argument(let, 2, "weight", None), argument(let, 3, "eps", None)
    if isinstance(eps, Const) and eps.value is None:
        import torch

        eps = Const(torch.finfo(s.facts[x].kind.dtype).eps)
    narrow = _narrowing(s, _mean_over(s, s.let("mul", x, x), axes), eps)
    normal = s.let("mul", x, narrow)
    weighted = _weighted(s, slope, weight)
    along = s.let("mul", normal, _mean_over(s, s.let("mul", weighted, normal), axes))
    s.add(x, lambda: s.let("mul", narrow, s.let("sub", weighted, along)))
    s.add(weight, lambda: s.let("mul", slope, normal), s.shape(x))


def _batch_norm(s: Slopes, let: Let, slope: Atom) -> None:
    """By the statistics of training, not those of the batch."""
    only(s, let, 8, "weight", "bias", "training", "momentum", "eps")
    x: Any
    x, mean, variance = let.op.args[0], let.op.args[1], let.op.args[2]
    weight, bias = argument(let, 3, "weight", None), argument(let, 4, "bias", None)
    if given(let, 5, "training", False) is not False or {mean, variance} & s.wanted:
        raise s.refusal("a gradient through 'batch_norm' by the statistics of the batch")
    channels = lambda one: _unsqueezed(s, one, [1] * (len(s.shape(x)) - 2))  # noqa: E731
    narrow = channels(_narrowing(s, variance, argument(let, 7, "eps", 1e-5)))
    wide = [axis for axis in range(len(s.shape(x))) if axis != 1]
    s.add(x, lambda: s.let("mul", _weighted(s, slope, weight if _is_none(weight) else channels(weight)), narrow))
    normal = lambda: s.let("mul", s.let("sub", x, channels(mean)), narrow)  # noqa: E731
    s.add(weight, lambda: s.let("method.sum", s.let("mul", slope, normal()), group(*wide)))
    s.add(bias, lambda: s.let("method.sum", slope, group(*wide)))


def _normalize(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 4, "p", "dim", "eps")
    x, axis, eps = let.op.args[0], given(let, 2, "dim", 1), argument(let, 3, "eps", 1e-12)
    if given(let, 1, "p", 2.0) != 2 or type(axis) is not int:
        raise s.refusal("a gradient through 'normalize' of an order that is not the second")
    s.check_no_graph("normalize")
    length = s.let("torch.norm", x, Const(2.0), Const(axis), Const(True))
    divisor = s.let("torch.clamp_min", length, eps)
    dots = s.let("method.sum", s.let("mul", slope, s.let("truediv", let.var, divisor)), Const(axis), Const(True))
    along = s.let("mul", x, s.let("truediv", dots, divisor))
    along = s.let("torch.where", s.let("torch.ge", length, eps), along, Const(0.0))
    s.add(x, lambda: s.let("sub", s.let("truediv", slope, divisor), along))


def _last_axes(s: Slopes, let: Let) -> tuple[int, ...]:
    """The dimensions that are normalised: as many as their shape has."""
    shape = argument(let, 1, "normalized_shape", None)
    count = len(shape.items) if isinstance(shape, Group) else None
    if isinstance(shape, Const) and isinstance(shape.value, tuple):
        count = len(shape.value)
    if isinstance(shape, Var) and s.facts.kind(shape).family == "tuple":
        count = len(s.facts.kind(shape).items)
    if count is None:
        raise s.refusal(f"a gradient through '{let.op.name}' of a shape that is not known before the loop runs")
    return tuple(range(-count, 0))


def _mean_over(s: Slopes, x: Any, axes: tuple[int, ...]) -> Atom:
    return s.let("method.mean", x, group(*axes), keepdim=Const(True))


def _narrowing(s: Slopes, variance: Any, eps: Operand) -> Atom:
    return s.let("truediv", Const(1), s.let("torch.sqrt", s.let("add", variance, eps)))


def _weighted(s: Slopes, slope: Atom, weight: Any) -> Atom:
    return slope if _is_none(weight) else s.let("mul", slope, weight)


def _is_none(atom: Any) -> bool:
    return isinstance(atom, Const) and atom.value is None


RULES: dict[str, Rule] = {
    "sum": _sum,
    "mean": _mean,
    "amax": _extreme,
    "amin": _extreme,
    "max": _max_or_min("maximum"),
    "min": _max_or_min("minimum"),
    "logsumexp": _logsumexp,
    "norm": _norm,
    "vector_norm": _norm,
    "var": _variance,
    "std": _deviation,
    "cumsum": _cumsum,
    "mse_loss": _element_loss(_squared),
    "l1_loss": _element_loss(_absolute),
    "smooth_l1_loss": _element_loss(_smooth, "beta"),
    "huber_loss": _element_loss(_huber, "delta"),
    "binary_cross_entropy_with_logits": _element_loss(_by_logits, both=False),
    "binary_cross_entropy": _element_loss(_by_chances, both=False),
    "kl_div": _kl_div,
    "cross_entropy": _cross_entropy,
    "nll_loss": _nll_loss,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "batch_norm": _batch_norm,
    "normalize": _normalize,
}
