"""Derivatives of arithmetic, of functions of numbers and of activations: element by element.

Formulas are those of torch. Where a slope is asked for a graph, it depends on what torch's depends on, be it by a slope
of zero (``_where_positive``), and no side that is not taken is infinite, as a second slope would be NaN there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from looplift.ir.grammar import Atom, Const, Let, Operand, Var
from looplift.ir.slopes import Rule, Slopes, argument, given, only

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
ROOT_OF_HALF = math.sqrt(0.5)

Flow = Callable[[Slopes, Any, Var, Atom], Atom]
"""From an operand, the result and its slope: the slope of the operand."""


def _binary(flows: Callable[..., tuple[Callable[[], Atom], Callable[[], Atom]]]) -> Rule:
    def rule(s: Slopes, let: Let, slope: Atom) -> None:
        only(s, let, 2)
        a, b = let.op.args
        for operand, flow in zip((a, b), flows(s, a, b, let.var, slope)):
            s.add(operand, flow, s.shape(let.var))

    return rule


def _unary(flow: Flow) -> Rule:
    def rule(s: Slopes, let: Let, slope: Atom) -> None:
        only(s, let, 1)
        s.add(let.op.args[0], lambda: flow(s, let.op.args[0], let.var, slope))

    return rule


def _with_options(flow: Callable[..., Atom], **defaults: Any) -> Rule:
    """The rule of a function with numbers beside its tensor, which stand behind it in this order."""

    def rule(s: Slopes, let: Let, slope: Atom) -> None:
        only(s, let, 1 + len(defaults) + 1, *defaults, "inplace")
        if given(let, 1 + len(defaults), "inplace", False) is not False:
            raise s.refusal(f"a gradient through '{let.op.name}' that changes what it takes")
        options = [argument(let, place + 1, name, value) for place, (name, value) in enumerate(defaults.items())]
        s.add(let.op.args[0], lambda: flow(s, let.op.args[0], let.var, slope, *options))

    return rule


# ---------------------------------------------------------------- arithmetic


def _mul(s: Slopes, a: Any, b: Any, _: Var, g: Atom) -> Any:
    return lambda: s.let("mul", g, b), lambda: s.let("mul", g, a)


def _truediv(s: Slopes, a: Any, b: Any, y: Var, g: Atom) -> Any:
    return lambda: s.let("truediv", g, b), lambda: s.let("mul", s.let("neg", g), s.let("truediv", y, b))


def _larger(s: Slopes, a: Any, b: Any, _: Var, g: Atom) -> Any:
    return lambda: _half_where_equal(s, g, "torch.gt", a, b), lambda: _half_where_equal(s, g, "torch.gt", b, a)


def _smaller(s: Slopes, a: Any, b: Any, _: Var, g: Atom) -> Any:
    return lambda: _half_where_equal(s, g, "torch.lt", a, b), lambda: _half_where_equal(s, g, "torch.lt", b, a)


def _half_where_equal(s: Slopes, g: Atom, taken: str, a: Atom, b: Atom) -> Atom:
    """All of a slope for the operand that is taken, and where both are, a half for each; NaN is everybody's."""
    is_lost = s.let({"torch.gt": "torch.lt", "torch.lt": "torch.gt"}[taken], a, b)
    halved = s.let("torch.where", s.let("torch.eq", a, b), s.let("truediv", g, Const(2)), g)
    return s.let("torch.where", is_lost, Const(0.0), halved)


def _pow(s: Slopes, let: Let, slope: Atom) -> None:
    only(s, let, 2)
    base, exponent = let.op.args[0], given(let, 1, "exponent", ...)
    if type(exponent) not in (int, float) or exponent == 0:
        raise s.refusal("a gradient through a power whose exponent is no constant other than zero")
    factor = base if exponent == 2 else s.let("pow", base, Const(exponent - 1))
    s.add(base, lambda: s.let("mul", slope, s.let("mul", Const(exponent), factor)))


def _level(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    return s.let("torch.zeros_like", g)


def _square(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    return s.let("mul", g, s.let("mul", Const(2), x))


# ---------------------------------------------------------------- functions of numbers


def _scaled(scale: float) -> Callable[[Slopes, Any], Atom]:
    return lambda s, x: s.let("mul", x, Const(scale))


def _by_square(function: str, first: int, sign: int) -> Flow:
    """``g / function(first + sign * x * x)``."""

    def flow(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
        squared = s.let("add" if sign > 0 else "sub", Const(first), s.let("mul", x, x))
        return s.let("truediv", g, squared if function == "" else s.let(function, squared))

    return flow


def _acosh(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    return s.let("truediv", g, s.let("torch.sqrt", s.let("sub", s.let("mul", x, x), Const(1))))


def _erf(scale: float) -> Flow:
    def flow(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
        bell = s.let("torch.exp", s.let("neg", s.let("mul", x, x)))
        return s.let("mul", s.let("mul", Const(scale), bell), g)

    return flow


def _rsqrt(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    return s.let("mul", s.let("mul", Const(-0.5), g), s.let("pow", y, Const(3)))


def _reciprocal(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    return s.let("mul", s.let("neg", g), s.let("mul", y, y))


def _tan(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    return s.let("mul", g, s.let("add", Const(1), s.let("mul", y, y)))


# ---------------------------------------------------------------- activations


def _where_positive(s: Slopes, g: Atom, z: Atom) -> Atom:
    """A slope where something is positive; it depends on that, by a slope of zero, where a graph is asked for."""
    return s.let("mul", g, s.let("torch.sign", z)) if s.creates else g


def _relu(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    """Zero where the result is not positive; the slope depends on the result there, by a slope of zero."""
    dead = s.let("torch.le", y, Const(0))
    none = s.let("mul", g, s.let("torch.sign", y)) if s.creates else Const(0.0)
    return s.let("torch.where", dead, none, g)


def _tanh(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    return s.let("mul", g, s.let("sub", Const(1), s.let("mul", y, y)))


def _sigmoid(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    return s.let("mul", s.let("mul", g, s.let("sub", Const(1), y)), y)


def _leaky_relu(s: Slopes, x: Any, y: Var, g: Atom, slope: Operand) -> Atom:
    return s.let("torch.where", s.let("torch.gt", x, Const(0)), _where_positive(s, g, x), s.let("mul", g, slope))


def _prelu(s: Slopes, let: Let, g: Atom) -> None:
    only(s, let, 2, "weight")
    x: Any = let.op.args[0]
    weight = argument(let, 1, "weight", None)
    if s.shape(weight) not in ((), (1,)) or not s.shape(x):
        raise s.refusal("a gradient through 'prelu' with a weight for each channel")
    alive = s.let("torch.gt", x, Const(0))
    s.add(x, lambda: s.let("torch.where", alive, _where_positive(s, g, x), s.let("mul", weight, g)))
    s.add(weight, lambda: s.let("torch.where", alive, Const(0.0), s.let("mul", x, g)), s.shape(x))


def _exponential(s: Slopes, x: Any, y: Var, g: Atom, alpha: Operand, scale: float = 1.0) -> Atom:
    """``elu`` and ``selu``: below zero the result is ``scale * alpha * (exp(x) - 1)``."""
    floor = s.let("mul", alpha, Const(scale)) if scale != 1 else alpha
    above = g if scale == 1 else s.let("mul", g, Const(scale))
    return _falling(s, x, s.let("mul", g, floor), above, lambda below: below)


def _celu(s: Slopes, x: Any, y: Var, g: Atom, alpha: Operand) -> Atom:
    return _falling(s, x, g, g, lambda below: s.let("truediv", below, alpha))


def _falling(s: Slopes, x: Any, below: Atom, above: Atom, exponent: Callable[[Atom], Atom]) -> Atom:
    """A slope that falls off exponentially below zero; torch has no second one at zero, by a formula of its own."""
    s.check_no_graph("elu")
    alive = s.let("torch.le", x, Const(0))
    steep = s.let("torch.exp", exponent(s.let("torch.where", alive, x, Const(0.0))))
    return s.let("torch.where", alive, s.let("mul", below, steep), above)


def _between(s: Slopes, x: Any, y: Var, g: Atom, lo: Operand, hi: Operand) -> Atom:
    """``hardtanh``: nothing at the bounds and behind them; what torch has for NaN depends on where it stands."""
    s.require(s.let("method.all", s.let("torch.eq", x, x)), "a number that 'hardtanh' takes")
    below, above = s.let("torch.le", x, lo), s.let("torch.ge", x, hi)
    passed = _where_positive(s, g, s.let("sub", x, lo))
    return s.let("torch.where", s.let("torch.logical_or", below, above), Const(0.0), passed)


def _hardsigmoid(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    s.check_no_graph("hardsigmoid")
    inside = s.let("torch.lt", s.let("torch.abs", x), Const(3.0))
    return s.let("torch.where", inside, s.let("truediv", g, Const(6.0)), Const(0.0))


def _hardswish(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    inside = s.let("torch.lt", s.let("torch.abs", x), Const(3))
    rise = s.let("torch.where", inside, s.let("add", s.let("truediv", x, Const(3.0)), Const(0.5)), Const(1.0))
    return s.let("torch.where", s.let("torch.le", x, Const(-3)), Const(0.0), s.let("mul", g, rise))


def _silu(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    p = s.let("torch.sigmoid", x)
    rise = s.let("mul", x, s.let("sub", Const(1), p))
    return s.let("mul", g, s.let("mul", p, s.let("add", Const(1), rise)))


def _softplus(s: Slopes, x: Any, y: Var, g: Atom, beta: Operand, threshold: Operand) -> Atom:
    z = x if isinstance(beta, Const) and beta.value == 1 else s.let("mul", x, beta)
    return s.let("torch.where", s.let("torch.gt", z, threshold), g, s.let("mul", g, s.let("torch.sigmoid", z)))


def _require_moderate(s: Slopes, x: Any, bound: float, name: str) -> None:
    """Beyond this torch's own second derivative of an activation overflows, to NaN; else the loop runs."""
    if s.creates:
        inside = s.let("torch.le", s.let("torch.abs", x), Const(bound))
        s.require(
            s.let("method.all", inside), f"a moderate number that '{name}' takes, whose gradient is differentiated"
        )


def _mish(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    _require_moderate(s, x, 80.0, "mish")
    t = s.let("torch.tanh", s.let("torch.nn.functional.softplus", x))
    steep = s.let("mul", s.let("mul", x, s.let("torch.sigmoid", x)), s.let("sub", Const(1), s.let("mul", t, t)))
    return s.let("mul", g, s.let("add", t, steep))


def _logsigmoid(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    return s.let("mul", g, s.let("torch.sigmoid", s.let("neg", x)))


def _softsign(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    """Of the numerator and of the denominator, as torch divides them."""
    divisor = s.let("add", s.let("torch.abs", x), Const(1))
    below = s.let("mul", s.let("neg", g), s.let("truediv", y, divisor))
    return s.let("add", s.let("truediv", g, divisor), s.let("mul", below, s.let("torch.sign", x)))


def _tanhshrink(s: Slopes, x: Any, y: Var, g: Atom) -> Atom:
    """Of ``x - tanh(x)``, term by term, which cancel near zero as in torch."""
    return s.let("sub", g, _tanh(s, x, s.let("torch.tanh", x), g))


def _gelu(s: Slopes, let: Let, g: Atom) -> None:
    only(s, let, 1, "approximate")
    flow = {"none": _gelu_exact, "tanh": _gelu_by_tanh}.get(given(let, 9, "approximate", "none"))
    if flow is None:
        raise s.refusal("a gradient through 'gelu' of a kind that is not known before the loop runs")
    _require_moderate(s, let.op.args[0], 1e12, "gelu")
    s.add(let.op.args[0], lambda: flow(s, let.op.args[0], g))


def _gelu_exact(s: Slopes, x: Any, g: Atom) -> Atom:
    cdf = s.let("mul", Const(0.5), s.let("add", Const(1), s.let("torch.erf", s.let("mul", x, Const(ROOT_OF_HALF)))))
    bell = s.let("torch.exp", s.let("mul", s.let("mul", x, x), Const(-0.5)))
    pdf = s.let("mul", bell, Const(1 / math.sqrt(2 * math.pi)))
    return s.let("mul", g, s.let("add", cdf, s.let("mul", x, pdf)))


def _gelu_by_tanh(s: Slopes, x: Any, g: Atom) -> Atom:
    scale, cubic = math.sqrt(2 / math.pi), 0.044715
    squared = s.let("mul", x, x)
    inner = s.let("mul", Const(scale), s.let("add", x, s.let("mul", Const(cubic), s.let("mul", squared, x))))
    t = s.let("torch.tanh", inner)
    left = s.let("mul", Const(0.5), s.let("add", Const(1), t))
    steep = s.let("mul", Const(scale), s.let("add", Const(1), s.let("mul", Const(3 * cubic), squared)))
    rise = s.let("mul", s.let("sub", Const(1), s.let("mul", t, t)), steep)
    return s.let("mul", g, s.let("add", left, s.let("mul", s.let("mul", Const(0.5), x), rise)))


# ---------------------------------------------------------------- choices


def _clamp(s: Slopes, let: Let, g: Atom) -> None:
    only(s, let, 3, "min", "max")
    _clamped(s, let, g, argument(let, 1, "min", None), argument(let, 2, "max", None))


def _clamped(s: Slopes, let: Let, g: Atom, lo: Operand, hi: Operand) -> None:
    x, bounds = let.op.args[0], [("torch.ge", lo), ("torch.le", hi)]
    if any(isinstance(bound, Var) and s.facts.kind(bound).is_array for _, bound in bounds):
        raise s.refusal("a gradient through 'clamp' to bounds that are tensors")
    kept = [s.let(name, x, bound) for name, bound in bounds if not (isinstance(bound, Const) and bound.value is None)]
    inside = kept[0] if len(kept) == 1 else s.let("torch.logical_and", *kept)
    s.add(x, lambda: s.let("torch.where", inside, g, Const(0.0)))


def _clamp_min(s: Slopes, let: Let, g: Atom) -> None:
    only(s, let, 2, "min")
    _clamped(s, let, g, argument(let, 1, "min", None), Const(None))


def _clamp_max(s: Slopes, let: Let, g: Atom) -> None:
    only(s, let, 2, "max")
    _clamped(s, let, g, Const(None), argument(let, 1, "max", None))


def _where(s: Slopes, let: Let, g: Atom) -> None:
    only(s, let, 3)
    condition, *sides = let.op.args
    if len(sides) != 2:
        raise s.refusal("a gradient through 'where' of one operand")
    s.add(sides[0], lambda: s.let("torch.where", condition, g, Const(0.0)), s.shape(let.var))
    s.add(sides[1], lambda: s.let("torch.where", condition, Const(0.0), g), s.shape(let.var))


def _masked_fill(s: Slopes, let: Let, g: Atom) -> None:
    only(s, let, 3, "mask", "value")
    x, mask, value = let.op.args[0], argument(let, 1, "mask", None), argument(let, 2, "value", None)
    if value in s.wanted:
        raise s.refusal("a gradient by what 'masked_fill' fills in")
    s.add(x, lambda: s.let("torch.where", mask, Const(0.0), g), s.shape(let.var))


RULES: dict[str, Rule] = {
    "add": _binary(lambda s, a, b, y, g: (lambda: g, lambda: g)),
    "sub": _binary(lambda s, a, b, y, g: (lambda: g, lambda: s.let("neg", g))),
    "mul": _binary(_mul),
    "truediv": _binary(_truediv),
    "maximum": _binary(_larger),
    "minimum": _binary(_smaller),
    "pow": _pow,
    "sign": _unary(_level),
    "floor": _unary(_level),
    "ceil": _unary(_level),
    "round": _with_options(lambda s, x, y, g, _: _level(s, x, y, g), decimals=0),
    "neg": _unary(lambda s, x, y, g: s.let("neg", g)),
    "square": _unary(_square),
    "exp": _unary(lambda s, x, y, g: s.let("mul", g, y)),
    "exp2": _unary(lambda s, x, y, g: s.let("mul", g, _scaled(math.log(2))(s, y))),
    "expm1": _unary(lambda s, x, y, g: s.let("mul", g, s.let("add", y, Const(1)))),
    "log": _unary(lambda s, x, y, g: s.let("truediv", g, x)),
    "log2": _unary(lambda s, x, y, g: s.let("truediv", g, _scaled(math.log(2))(s, x))),
    "log10": _unary(lambda s, x, y, g: s.let("truediv", g, _scaled(math.log(10))(s, x))),
    "log1p": _unary(lambda s, x, y, g: s.let("truediv", g, s.let("add", x, Const(1)))),
    "sin": _unary(lambda s, x, y, g: s.let("mul", g, s.let("torch.cos", x))),
    "cos": _unary(lambda s, x, y, g: s.let("mul", g, s.let("neg", s.let("torch.sin", x)))),
    "tan": _unary(_tan),
    "sinh": _unary(lambda s, x, y, g: s.let("mul", g, s.let("torch.cosh", x))),
    "cosh": _unary(lambda s, x, y, g: s.let("mul", g, s.let("torch.sinh", x))),
    "asin": _unary(_by_square("torch.sqrt", 1, -1)),
    "acos": _unary(lambda s, x, y, g: s.let("neg", _by_square("torch.sqrt", 1, -1)(s, x, y, g))),
    "atan": _unary(_by_square("", 1, 1)),
    "asinh": _unary(_by_square("torch.sqrt", 1, 1)),
    "acosh": _unary(_acosh),
    "atanh": _unary(_by_square("", 1, -1)),
    "erf": _unary(_erf(2 / math.sqrt(math.pi))),
    "erfc": _unary(_erf(-2 / math.sqrt(math.pi))),
    "sqrt": _unary(lambda s, x, y, g: s.let("truediv", g, s.let("mul", Const(2), y))),
    "rsqrt": _unary(_rsqrt),
    "reciprocal": _unary(_reciprocal),
    "abs": _unary(lambda s, x, y, g: s.let("mul", g, s.let("torch.sign", x))),
    "tanh": _unary(_tanh),
    "sigmoid": _unary(_sigmoid),
    "relu": _with_options(_relu),
    "relu6": _with_options(lambda s, x, y, g: _between(s, x, y, g, Const(0.0), Const(6.0))),
    "hardtanh": _with_options(_between, min_val=-1.0, max_val=1.0),
    "hardsigmoid": _with_options(_hardsigmoid),
    "hardswish": _with_options(_hardswish),
    "leaky_relu": _with_options(_leaky_relu, negative_slope=0.01),
    "prelu": _prelu,
    "elu": _with_options(_exponential, alpha=1.0),
    "selu": _with_options(lambda s, x, y, g: _exponential(s, x, y, g, Const(SELU_ALPHA), SELU_SCALE)),
    "celu": _with_options(_celu, alpha=1.0),
    "silu": _with_options(_silu),
    "mish": _with_options(_mish),
    "softplus": _with_options(_softplus, beta=1, threshold=20),
    "logsigmoid": _unary(_logsigmoid),
    "softsign": _unary(_softsign),
    "tanhshrink": _unary(_tanhshrink),
    "gelu": _gelu,
    "clamp": _clamp,
    "clip": _clamp,
    "clamp_min": _clamp_min,
    "clamp_max": _clamp_max,
    "where": _where,
    "masked_fill": _masked_fill,
}
ALIASES = {
    "multiply": "mul",
    "subtract": "sub",
    "div": "truediv",
    "divide": "truediv",
    "true_divide": "truediv",
    "negative": "neg",
    "absolute": "abs",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
}
RULES |= {alias: RULES[name] for alias, name in ALIASES.items()}
