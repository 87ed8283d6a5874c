"""Names of operations in, C++ of what each does to one number or two, and the type that PyTorch gives it, out."""

from __future__ import annotations

import operator
import re
from functools import cache
from typing import Any

import torch

from looplift.base.errors import NotLiftable
from looplift.emit.native_ops import ACTIVATIONS, ARITHMETIC, COMPARISONS, FUNCTIONS, LOGIC, TESTS, Row, row_of
from looplift.emit.native_prelude import prelude
from looplift.emit.native_prelude_functions import called_in, declarations
from looplift.emit.typed_scope import Value, refuse
from looplift.emit.typed_types import BOOL, DTYPES, FLOAT, INT, MIXED, Ten

_CHOOSE = ("maximum", "minimum", "relu", "floor", "ceil", "trunc", "round", "sign")
"""Where a slope is 0 nothing flows, whatever comes from above."""
_KEEP_NOTHING = ("add", "sub", "neg", "pos", "floor", "ceil", "trunc", "round", "sign")
_KEEP_RESULTS = (
    "exp", "exp2", "expm1", "sqrt", "rsqrt", "tan", "tanh", "sigmoid", "reciprocal", "relu",
)  # fmt: skip
INEXACT = {name for name, row in {**FUNCTIONS, **ARITHMETIC, **ACTIVATIONS}.items() if not row.exact}
_MORE = {
    "logaddexp": Row(
        "{a} == {b} ? ({a} - {a} == 0 ? T({a} + T(0.6931471805599453)) : {a}) : "
        "{a} != {a} || {b} != {b} ? {a} + {b} : "
        "larger({a}, {b}) + simd::log1p(simd::exp(smaller({a}, {b}) - larger({a}, {b})))",
        gradients=("{g} / (1 + simd::exp({b} - {a}))", "{g} / (1 + simd::exp({a} - {b}))"),
    ),
}
_SYMBOLS = {**COMPARISONS, **LOGIC, **TESTS}


def known_row(name: str) -> Row | None:
    return _MORE.get(name) or row_of(name)


def struct_of(name: str, *, integer: bool, tracked: bool) -> str:
    """The C++ of one operation."""
    if name in _SYMBOLS:
        text, first, second = _SYMBOLS[name][0], "0", "0"
        keeps, row = "false", None
    else:
        row = known_row(name)
        if row is None or (tracked and None in row.gradients and not integer):
            raise refuse(None, f"'{name}' has no form for tensors")
        text = (row.integer if integer else "") or row.text
        slopes = [slope or "0" for slope in row.gradients] if not integer else []
        first, second = (*slopes, "0", "0")[:2]
        keeps = str(name not in (*_KEEP_NOTHING, *_KEEP_RESULTS, *_SYMBOLS)).lower()
    forms = {"T": "T", "a": "a", "b": "b", "r": "r", "g": "g"}
    value = _filled(text, forms)
    one = "{b}" not in text
    flags = {
        "chosen": name in _CHOOSE, "keeps": keeps == "true", "keeps_result": name in _KEEP_RESULTS,
        "crosswise": name == "mul",
    }  # fmt: skip
    zero = "if (b == 0) bail(ZERO); " if integer and name in ("floordiv", "mod", "fmod") else ""
    if name in ("maximum", "minimum") and not integer:  # which zero it is depends on where it is in a row
        zero = "if (a == 0 && b == 0 && signbit(a) != signbit(b)) bail(DOMAIN); "
    lines = [
        f"struct {struct_name(name, integer)} {{",
        *(f"  static constexpr bool {flag} = {str(holds).lower()};" for flag, holds in flags.items()),
    ]
    if one:
        lines += [f"  template <class T> auto f(T a) const {{ return {_typed(value, name)}; }}"]
        lines += [
            f"  template <class T, class O> F da(T a, O r) const {{ const T g = 1; return {_filled(first, forms)}; }}"
        ]
    else:
        lines += [f"  template <class T> auto f(T a, T b) const {{ {zero}return {_typed(value, name)}; }}"]
        for letter, slope in (("a", first), ("b", second)):
            lines += [
                f"  template <class T, class O> F d{letter}(T a, T b, O r) const "
                f"{{ const T g = 1; return {_filled(slope, forms)}; }}"
            ]
    return "\n".join([*lines, "};"])


def _typed(value: str, name: str) -> str:
    return f"bool({value})" if name in _SYMBOLS else f"T({value})"


def _filled(text: str, forms: dict[str, str]) -> str:
    return re.sub(r"\{(\w)\}", lambda found: forms[found.group(1)], text)


def struct_name(name: str, integer: bool) -> str:
    return f"Op_{name}{'_integer' if integer else ''}"


def operations_text(structs: dict[str, str]) -> tuple[str, str]:
    """The C++ of all operations that a program uses, with what they lean on: what stands outside of their namespace,
    and the namespace."""
    body = "\n".join(structs.values())
    text = prelude(body + "\n// simd::exp simd::log larger smaller power")
    declared = "\n".join(declarations(called_in(text)))
    text = text.replace(declared, "")
    lines = [line for line in text.splitlines() if not line.startswith(("#include", "enum Outcome"))]
    return declared, "\n".join(["namespace ops {", *lines, body, "}"])


# ---------------------------------------------------------------- what PyTorch makes of operands

_SAMPLES = {BOOL: True, INT: 1, FLOAT: 1.0, MIXED: 1.0}
_OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "pow": operator.pow,
    "floordiv": operator.floordiv, "mod": operator.mod, "neg": operator.neg, "and_": operator.and_,
    "or_": operator.or_, "xor": operator.xor, "invert": operator.invert,
    **{name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}  # fmt: skip


def sample(type_: Any) -> Any:
    """A value of a type."""
    if isinstance(type_, Ten):
        return torch.ones([2] * type_.rank, dtype=getattr(torch, type_.dtype))
    if type_ not in _SAMPLES:
        raise refuse(None, f"a tensor and {type_!r}")
    return _SAMPLES[type_]


def operator_of(name: str) -> Any:
    return _OPERATORS.get(name) or getattr(torch, name, None) or getattr(torch.nn.functional, name, None)


def result_of(name: str, *types: Any) -> tuple[Ten, str]:
    """The type of an operation's result, and the dtype in which it computes: the same for what may be an integer or a
    float, whichever it is."""
    default = torch.get_default_dtype()
    found = _result_of(default, name, *types)
    if MIXED in types and found != _result_of(default, name, *(INT if one is MIXED else one for one in types)):
        raise refuse(None, f"'{name}' of a tensor and a number that may be an integer or a float")
    return found


def takes_no_bool(name: str, *types: Any) -> bool:
    """Whether PyTorch takes a number that may be a bool otherwise where it is one: it has no differences of those."""
    if MIXED not in types:
        return False
    try:
        found = _result_of(torch.get_default_dtype(), name, *(BOOL if one is MIXED else one for one in types))
    except NotLiftable:
        return True
    return found != result_of(name, *types)


@cache
def _result_of(default: torch.dtype, name: str, *types: Any) -> tuple[Ten, str]:
    values = [sample(type_) for type_ in types]
    with torch.no_grad():
        try:
            found = operator_of(name)(*values)
        except (RuntimeError, TypeError) as error:
            raise refuse(None, f"'{name}' of {', '.join(map(repr, types))}: {error}") from None
    made = type_of_result(found)
    dtype = made.dtype
    if name in COMPARISONS or name in TESTS or name in LOGIC:
        dtype = str(torch.result_type(*values) if len(values) == 2 else values[0].dtype).removeprefix("torch.")
    return made, dtype


def type_of_result(found: Any) -> Ten:
    dtype = str(found.dtype).removeprefix("torch.")
    if dtype not in DTYPES:
        raise refuse(None, f"a tensor of {dtype}")
    return Ten(dtype, found.dim())


def is_tensor(value: Value) -> bool:
    return isinstance(value.type, Ten)
