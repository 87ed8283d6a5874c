"""The table of scalar operations: one row says how an operation is written in C++ and what its derivatives are.

In a row's texts ``{a}`` and ``{b}`` are the operands, ``{r}`` the result, ``{g}`` the gradient of the result and
``{T}`` the type in which the operation computes. Derivatives follow PyTorch's formulas, ties and zeros included.
"""

from __future__ import annotations

from dataclasses import dataclass

ATOM, UNARY, MULTIPLY, ADD, SHIFT, COMPARE, EQUAL, BIT_AND, BIT_XOR, BIT_OR, AND, OR, CHOICE = range(13)
"""How tightly a C++ expression binds."""


@dataclass(frozen=True, slots=True)
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
    "exp": Row("std::exp({a})", gradients=("{g} * {r}",), exact=False),
    "exp2": Row("std::exp2({a})", gradients=("{g} * {r} * 0.6931471805599453",)),
    "expm1": Row("std::expm1({a})", gradients=("{g} * ({r} + 1)",), exact=False),
    "log": Row("std::log({a})", gradients=("{g} / {a}",), exact=False),
    "log2": Row("std::log2({a})", gradients=("{g} / ({a} * 0.6931471805599453)",), exact=False),
    "log10": Row("std::log10({a})", gradients=("{g} / ({a} * 2.302585092994046)",), exact=False),
    "log1p": Row("std::log1p({a})", gradients=("{g} / ({a} + 1)",), exact=False),
    "sqrt": Row("std::sqrt({a})", gradients=("{g} / (2 * {r})",), exact=False),
    "rsqrt": Row("1 / std::sqrt({a})", MULTIPLY, ("-0.5 * {g} * {r} * {r} * {r}",), exact=False),
    "sin": Row("std::sin({a})", gradients=("{g} * std::cos({a})",), exact=False),
    "cos": Row("std::cos({a})", gradients=("-{g} * std::sin({a})",), exact=False),
    "tan": Row("std::tan({a})", gradients=("{g} * (1 + {r} * {r})",), exact=False),
    "sinh": Row("std::sinh({a})", gradients=("{g} * std::cosh({a})",)),
    "cosh": Row("std::cosh({a})", gradients=("{g} * std::sinh({a})",)),
    "tanh": Row("std::tanh({a})", gradients=("{g} * (1 - {r} * {r})",), exact=False),
    "asin": Row("std::asin({a})", gradients=("{g} / std::sqrt(1 - {a} * {a})",), exact=False),
    "acos": Row("std::acos({a})", gradients=("-{g} / std::sqrt(1 - {a} * {a})",), exact=False),
    "atan": Row("std::atan({a})", gradients=("{g} / (1 + {a} * {a})",), exact=False),
    "asinh": Row("std::asinh({a})", gradients=("{g} / std::sqrt({a} * {a} + 1)",)),
    "acosh": Row("std::acosh({a})", gradients=("{g} / std::sqrt({a} * {a} - 1)",)),
    "atanh": Row("std::atanh({a})", gradients=("{g} / (1 - {a} * {a})",)),
    "erf": Row("std::erf({a})", gradients=("{g} * 1.1283791670955126 * std::exp(-{a} * {a})",), exact=False),
    "erfc": Row("std::erfc({a})", gradients=("-{g} * 1.1283791670955126 * std::exp(-{a} * {a})",), exact=False),
    "sigmoid": Row("1 / (1 + std::exp(-{a}))", MULTIPLY, ("{g} * (1 - {r}) * {r}",), exact=False),
    "reciprocal": Row("1 / {a}", MULTIPLY, ("-{g} * ({r} * {r})",)),
    "truediv": Row("{a} / {b}", MULTIPLY, ("{g} / {b}", "-{g} * (({a} / {b}) / {b})")),
    "atan2": Row(
        "std::atan2({a}, {b})",
        gradients=("{g} * ({b} / ({a} * {a} + {b} * {b}))", "-{g} * ({a} / ({a} * {a} + {b} * {b}))"),
    ),
    "hypot": Row("std::hypot({a}, {b})", gradients=("{g} * ({a} / {r})", "{g} * ({b} / {r})")),
}
"""Functions of floats; an integer operand becomes a float first."""

ARITHMETIC: dict[str, Row] = {
    "add": Row("{a} + {b}", ADD, ("{g}", "{g}"), "{a} + {b}"),
    "sub": Row("{a} - {b}", ADD, ("{g}", "-{g}"), "{a} - {b}"),
    "mul": Row("{a} * {b}", MULTIPLY, ("{g} * {b}", "{g} * {a}"), "{a} * {b}"),
    "neg": Row("-{a}", UNARY, ("-{g}",), "-{a}"),
    "pos": Row("{a}", ATOM, ("{g}",), "{a}"),
    "abs": Row("std::fabs({a})", ATOM, ("{g} * (({a} > 0) - ({a} < 0))",), "{a} < 0 ? -{a} : {a}"),
    "square": Row("{a} * {a}", MULTIPLY, ("{g} * (2 * {a})",), "{a} * {a}"),
    "sign": Row("sign_of({a})", ATOM, (None,), "sign_of({a})"),
    "relu": Row("maximum<{T}>({a}, 0)", ATOM, ("{r} > 0 ? {g} : 0",), "{a} < 0 ? 0 : {a}"),
    "floor": Row("std::floor({a})", ATOM, (None,), "{a}"),
    "ceil": Row("std::ceil({a})", ATOM, (None,), "{a}"),
    "trunc": Row("std::trunc({a})", ATOM, (None,), "{a}"),
    "round": Row("std::nearbyint({a})", ATOM, (None,), "{a}"),
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
        "remainder_of<{T}>({a}, {b})", ATOM, ("{g}", "-{g} * std::floor({a} / {b})"),
        "integer_remainder<{T}>({a}, {b})",
    ),
    "fmod": Row(
        "std::fmod({a}, {b})", ATOM, ("{g}", "-{g} * std::trunc({a} / {b})"), "integer_fmod<{T}>({a}, {b})"
    ),
}  # fmt: skip
"""Operations that integers have of their own."""

COMPARISONS: dict[str, tuple[str, int]] = {
    "eq": ("{a} == {b}", EQUAL),
    "ne": ("{a} != {b}", EQUAL),
    "lt": ("{a} < {b}", COMPARE),
    "le": ("{a} <= {b}", COMPARE),
    "gt": ("{a} > {b}", COMPARE),
    "ge": ("{a} >= {b}", COMPARE),
}

TESTS: dict[str, tuple[str, int]] = {
    "isnan": ("std::isnan({a})", ATOM),
    "isinf": ("std::isinf({a})", ATOM),
    "isfinite": ("std::isfinite({a})", ATOM),
    "signbit": ("std::signbit({a})", ATOM),
}

BITS: dict[str, tuple[str, int]] = {
    "and_": ("{a} & {b}", BIT_AND),
    "or_": ("{a} | {b}", BIT_OR),
    "xor": ("{a} ^ {b}", BIT_XOR),
}

LOGIC: dict[str, tuple[str, int]] = {
    "logical_and": ("{a} && {b}", AND),
    "logical_or": ("{a} || {b}", OR),
    "logical_xor": ("{a} != {b}", EQUAL),
}

MATH: dict[str, str] = {
    name: f"std::{name}({{a}})"
    for name in (
        "sqrt", "exp", "exp2", "expm1", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
        "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "fabs", "erf", "erfc", "cbrt",
    )
}  # fmt: skip
"""Functions of the math module that are the C library's, and raise where it finds no finite number."""
MATH |= {
    "log": "std::log({a})",
    "pow": "std::pow({a}, {b})",
    "atan2": "std::atan2({a}, {b})",
    "fmod": "std::fmod({a}, {b})",
    "copysign": "std::copysign({a}, {b})",
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
    "fix": "trunc", "expit": "sigmoid", "around": "round",
}  # fmt: skip

_NAMESPACES = {
    "torch": "torch", "torch.nn.functional": "torch", "torch.special": "torch", "method": "method", "np": "np",
    "math": "math", "builtin": "builtin", "inplace": "inplace", "": "",
}  # fmt: skip


def canonical(name: str) -> tuple[str, str]:
    """The namespace and the name in this table of an operation: ``torch.multiply`` is ("torch", "mul")."""
    owner, _, short = name.rpartition(".")
    namespace = _NAMESPACES.get(owner, "unknown")
    if namespace in ("torch", "method", "np"):
        short = _SYNONYMS.get(short, short)
    return namespace, "eq" if name == "np.equal" else short


def row_of(short: str) -> Row | None:
    """The row of a function or an arithmetic operation."""
    return FUNCTIONS.get(short) or ARITHMETIC.get(short)
