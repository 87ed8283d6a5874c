"""The table of scalar operations: one row says how an operation is written in C++ and what its derivatives are.

In a row's texts ``{a}`` and ``{b}`` are the operands, ``{r}`` the result, ``{g}`` the gradient of the result and
``{T}`` the type in which the operation computes. Derivatives follow PyTorch's formulas, ties and zeros included.
"""

from __future__ import annotations

from looplift.base.data import dataclass

ATOM, UNARY, MULTIPLY, ADD, SHIFT, COMPARE, EQUAL, BIT_AND, BIT_XOR, BIT_OR, AND, OR, CHOICE = range(13)
"""How tightly a C++ expression binds."""


@dataclass(frozen=True)
class Row:
    """``text``: of floats. ``integer``: of integers, in their own type; without it integers become floats first.

    ``gradients``: what each operand's gradient grows by, None where none flows. ``exact``: whether PyTorch's own
    kernel for one number rounds as the C library does.
    """

    text: str
    level: int = ATOM
    gradients: tuple[str | None, ...] = ()
    integer: str = ""
    exact: bool = True


FUNCTIONS: dict[str, Row] = {
    "exp": Row("simd::exp({a})", gradients=("{g} * {r}",), exact=False),
    "exp2": Row("math::exp2({a})", gradients=("{g} * {r} * {T}(0.6931471805599453)",)),
    "expm1": Row("simd::expm1({a})", gradients=("{g} * ({r} + 1)",), exact=False),
    "log": Row("simd::log({a})", gradients=("{g} / {a}",), exact=False),
    "log2": Row("simd::log2({a})", gradients=("{g} / ({a} * {T}(0.6931471805599453))",), exact=False),
    "log10": Row("simd::log10({a})", gradients=("{g} / ({a} * {T}(2.302585092994046))",), exact=False),
    "log1p": Row("simd::log1p({a})", gradients=("{g} / ({a} + 1)",), exact=False),
    "sqrt": Row("math::sqrt({a})", gradients=("{g} / (2 * {r})",), exact=False),
    "rsqrt": Row("1 / math::sqrt({a})", MULTIPLY, ("{T}(-0.5) * {g} * ({r} * {r} * {r})",), exact=False),
    "sin": Row("simd::sin({a})", gradients=("{g} * simd::cos({a})",), exact=False),
    "cos": Row("simd::cos({a})", gradients=("-{g} * simd::sin({a})",), exact=False),
    "tan": Row("simd::tan({a})", gradients=("{g} * (1 + {r} * {r})",), exact=False),
    "sinh": Row("math::sinh({a})", gradients=("{g} * math::cosh({a})",)),
    "cosh": Row("math::cosh({a})", gradients=("{g} * math::sinh({a})",)),
    "tanh": Row("simd::tanh({a})", gradients=("{g} * (1 - {r} * {r})",), exact=False),
    "asin": Row("simd::asin({a})", gradients=("{g} / math::sqrt(1 - {a} * {a})",), exact=False),
    "acos": Row("simd::acos({a})", gradients=("-{g} / math::sqrt(1 - {a} * {a})",), exact=False),
    "atan": Row("simd::atan({a})", gradients=("{g} / (1 + {a} * {a})",), exact=False),
    "asinh": Row("math::asinh({a})", gradients=("{g} / math::sqrt({a} * {a} + 1)",)),
    "acosh": Row("math::acosh({a})", gradients=("{g} / math::sqrt({a} * {a} - 1)",)),
    "atanh": Row("math::atanh({a})", gradients=("{g} / (1 - {a} * {a})",)),
    "erf": Row("simd::erf({a})", gradients=("{T}(1.1283791670955126) * simd::exp(-{a} * {a}) * {g}",), exact=False),
    "erfc": Row("simd::erfc({a})", gradients=("{T}(-1.1283791670955126) * simd::exp(-{a} * {a}) * {g}",), exact=False),
    "sigmoid": Row("1 / (1 + simd::exp(-{a}))", MULTIPLY, ("{g} * (1 - {r}) * {r}",), exact=False),
    "reciprocal": Row("1 / {a}", MULTIPLY, ("-{g} * ({r} * {r})",)),
    "truediv": Row("{a} / {b}", MULTIPLY, ("{g} / {b}", "-{g} * (({a} / {b}) / {b})")),
    "atan2": Row(
        "math::atan2({a}, {b})",
        gradients=(
            "{g} * {b} * ({a} * {a} + {b} * {b} == 0 ? 0 : 1 / ({a} * {a} + {b} * {b}))",
            "{g} * -{a} * ({a} * {a} + {b} * {b} == 0 ? 0 : 1 / ({a} * {a} + {b} * {b}))",
        ),
    ),
    "hypot": Row("math::hypot({a}, {b})", gradients=("{g} * {a} / {r}", "{g} * {b} / {r}")),
    "copysign": Row("math::copysign({a}, {b})", gradients=("{g} * ({a} == 0 ? 0 : {r} / {a})", "0")),
}
"""Functions of floats; an integer operand becomes a float first."""

ARITHMETIC: dict[str, Row] = {
    "add": Row("{a} + {b}", ADD, ("{g}", "{g}"), "{a} + {b}"),
    "sub": Row("{a} - {b}", ADD, ("{g}", "-{g}"), "{a} - {b}"),
    "mul": Row("{a} * {b}", MULTIPLY, ("{g} * {b}", "{g} * {a}"), "{a} * {b}"),
    "neg": Row("-{a}", UNARY, ("-{g}",), "-{a}"),
    "pos": Row("{a}", ATOM, ("{g}",), "{a}"),
    "abs": Row("math::fabs({a})", ATOM, ("{g} * (({a} > 0) - ({a} < 0))",), "{a} < 0 ? -{a} : {a}"),
    "square": Row("{a} * {a}", MULTIPLY, ("{g} * (2 * {a})",), "{a} * {a}"),
    "sign": Row("sign_of({a})", ATOM, ("0",), "sign_of({a})"),
    "relu": Row("maximum<{T}>({a}, 0)", ATOM, ("{r} <= 0 ? 0 : {g}",), "{a} < 0 ? 0 : {a}"),
    "floor": Row("math::floor({a})", ATOM, ("0",), "{a}"),
    "ceil": Row("math::ceil({a})", ATOM, ("0",), "{a}"),
    "trunc": Row("math::trunc({a})", ATOM, ("0",), "{a}"),
    "round": Row("math::nearbyint({a})", ATOM, ("0",), "{a}"),
    "maximum": Row(
        "maximum<{T}>({a}, {b})", ATOM,
        ("{a} == {b} ? {g} / 2 : {a} < {b} ? 0 : {g}", "{a} == {b} ? {g} / 2 : {b} < {a} ? 0 : {g}"),
        "{a} < {b} ? {b} : {a}",
    ),
    "minimum": Row(
        "minimum<{T}>({a}, {b})", ATOM,
        ("{a} == {b} ? {g} / 2 : {b} < {a} ? 0 : {g}", "{a} == {b} ? {g} / 2 : {a} < {b} ? 0 : {g}"),
        "{b} < {a} ? {b} : {a}",
    ),
    "floordiv": Row("floor_divide<{T}>({a}, {b})", ATOM, (None, None), "integer_floor_divide<{T}>({a}, {b})"),
    "mod": Row(
        "remainder_of<{T}>({a}, {b})", ATOM, ("{g}", "-{g} * floor_divide<{T}>({a}, {b})"),
        "integer_remainder<{T}>({a}, {b})",
    ),
    "fmod": Row(
        "math::fmod({a}, {b})", ATOM, ("{g}", "-{g} * math::trunc({a} / {b})"), "integer_fmod<{T}>({a}, {b})"
    ),
}  # fmt: skip
"""Operations that integers have of their own."""

LEAK = 0.01
"""The slope of ``leaky_relu`` below zero where none is given."""
ACTIVATIONS: dict[str, Row] = {
    "leaky_relu": Row("{a} > 0 ? {a} : {a} * {b}", CHOICE, ("{a} > 0 ? {g} : {g} * {b}", "0")),
    "elu": Row(
        "{a} > 0 ? {a} : {T}(simd::expm1({a}))", CHOICE, ("{a} <= 0 ? {g} * simd::exp({a}) : {g}",), exact=False
    ),
    "silu": Row(
        "{a} / (1 + simd::exp(-{a}))", MULTIPLY,
        ("{g} / (1 + simd::exp(-{a})) * (1 + {a} * (1 - 1 / (1 + simd::exp(-{a}))))",), exact=False,
    ),
    "softplus": Row(
        "{a} > 20 ? {a} : {T}(simd::log1p(simd::exp({a})))", CHOICE,
        ("{a} > 20 ? {g} : {g} * simd::exp({a}) / (simd::exp({a}) + 1)",), exact=False,
    ),
    "logsigmoid": Row(
        "smaller<{T}>({a}, 0) - simd::log1p(simd::exp(-math::fabs({a})))", ADD,
        ("{g} * (({a} < 0 ? 1 : simd::exp(-math::fabs({a}))) / (1 + simd::exp(-math::fabs({a}))))",), exact=False,
    ),
    "gelu": Row(
        "{a} / 2 * (1 + simd::erf({a} * {T}(0.7071067811865476)))", MULTIPLY,
        (
            "{g} * ((1 + simd::erf({a} * {T}(0.7071067811865476))) / 2"
            " + {a} * (simd::exp(-{a} * {a} / 2) * {T}(0.3989422804014327)))",
        ),
        exact=False,
    ),
}  # fmt: skip
"""Functions of ``torch.nn.functional``, of tensors of floats alone."""

COMPARISONS: dict[str, tuple[str, int]] = {
    "eq": ("{a} == {b}", EQUAL),
    "ne": ("{a} != {b}", EQUAL),
    "lt": ("{a} < {b}", COMPARE),
    "le": ("{a} <= {b}", COMPARE),
    "gt": ("{a} > {b}", COMPARE),
    "ge": ("{a} >= {b}", COMPARE),
}

TESTS: dict[str, tuple[str, int]] = {
    "isnan": ("math::isnan({a})", ATOM),
    "isinf": ("math::isinf({a})", ATOM),
    "isfinite": ("math::isfinite({a})", ATOM),
    "signbit": ("math::signbit({a})", ATOM),
}

BITS: dict[str, tuple[str, int]] = {
    "and_": ("{a} & {b}", BIT_AND),
    "or_": ("{a} | {b}", BIT_OR),
    "xor": ("{a} ^ {b}", BIT_XOR),
    "lshift": ("left_shift<{T}>({a}, {b})", ATOM),
    "rshift": ("right_shift<{T}>({a}, {b})", ATOM),
}

LOGIC: dict[str, tuple[str, int]] = {
    "logical_and": ("{a} && {b}", AND),
    "logical_or": ("{a} || {b}", OR),
    "logical_xor": ("{a} != {b}", EQUAL),
}

MATH: dict[str, str] = {
    name: f"math::{name}({{a}})"
    for name in (
        "sqrt", "exp", "exp2", "expm1", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
        "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "fabs", "erf", "erfc", "cbrt",
    )
}  # fmt: skip
"""Functions of the math module that are the C library's, and raise where it finds no finite number."""
MATH |= {
    "log": "math::log({a})",
    "pow": "math::pow({a}, {b})",
    "atan2": "math::atan2({a}, {b})",
    "fmod": "math::fmod({a}, {b})",
    "hypot": "length_of({a}, {b})",
    "copysign": "math::copysign({a}, {b})",
    "degrees": "{a} * 57.29577951308232",
    "radians": "{a} * 0.017453292519943295",
}

CONVERSIONS: dict[str, str] = {
    "double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16",
    "long": "int64", "int": "int32", "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool",
}  # fmt: skip
"""Methods of a tensor that convert it."""

_SYNONYMS = {
    "absolute": "abs", "divide": "truediv", "div": "truediv", "true_divide": "truediv", "multiply": "mul",
    "subtract": "sub", "negative": "neg", "positive": "pos", "power": "pow", "remainder": "mod",
    "floor_divide": "floordiv", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le",
    "not_equal": "ne", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2",
    "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "fabs": "abs", "sgn": "sign", "clip": "clamp",
    "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor", "bitwise_not": "invert", "rint": "round",
    "bitwise_left_shift": "lshift", "bitwise_right_shift": "rshift", "left_shift": "lshift", "right_shift": "rshift",
    "fix": "trunc", "expit": "sigmoid", "around": "round",
}  # fmt: skip

_NAMESPACES = {
    "torch": "torch", "torch.nn.functional": "torch", "torch.special": "torch", "method": "method", "np": "np",
    "math": "math", "builtin": "builtin", "inplace": "inplace", "": "",
}  # fmt: skip


def canonical(name: str) -> tuple[str, str]:
    """The namespace and the name in this table of an operation: ``torch.multiply`` is ("torch", "mul")."""
    owner, _, short = name.rpartition(".")
    owner = owner.removesuffix(".linalg") if short in ("norm", "vector_norm") else owner
    namespace = _NAMESPACES.get(owner, "unknown")
    if namespace in ("torch", "method", "np"):
        short = _SYNONYMS.get(short, short)
    return namespace, "eq" if name == "np.equal" else short


def row_of(short: str) -> Row | None:
    """The row of a function or an arithmetic operation."""
    return FUNCTIONS.get(short) or ARITHMETIC.get(short) or ACTIVATIONS.get(short)
