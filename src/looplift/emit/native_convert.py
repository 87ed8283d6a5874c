"""Conversions of a number from one type to another, and its truth value."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from looplift.base.data import replace
from looplift.emit.native_mixed import as_float, as_mixed
from looplift.emit.native_ops import ATOM, COMPARE, EQUAL, UNARY
from looplift.emit.native_types import BOOL, FLOAT, INT, MIXED, Scalar, literal
from looplift.emit.native_values import GREATEST, LEAST, Number, plain

if TYPE_CHECKING:
    from looplift.emit.native_scalar import Sink

BEYOND_SINGLE = 2.0**128 - 2.0**103
"""The least number that is rounded to infinity in single precision."""


def constant(value: bool | int | float, scalar: Scalar) -> Number:
    """A literal of a type."""
    text = literal(value, scalar)
    level = UNARY if text.startswith("-") else ATOM
    bounds = (int(value), int(value)) if isinstance(value, int) else (LEAST, GREATEST)
    return Number(text, scalar, level, *bounds, constant=value, zero=str(value) in ("0", "0.0", "False"))


def convert(sink: Sink, number: Number, to: Scalar) -> Number:
    """The number in another type, as PyTorch, NumPy and Python convert in an operation or a store."""
    source = number.type
    if to == MIXED:
        return as_mixed(sink, number)
    if source == MIXED:
        return convert(sink, as_float(number), to)
    if number.constant is not None and source.is_python:
        return _constant(sink, number, to)
    if source.name == to.name:
        return replace(plain(number), type=to)
    if source.is_float and to.is_integer:
        return _truncated(sink, number, to)
    if to.is_bool:
        return replace(truth(number), type=to)
    if source.is_python and to.is_integer and not source.is_bool:
        number = _within(sink, number, to)
    if source.is_python and source.is_float and _warns(to):
        number = sink.bind(number)
        sink.fail_if(f"surprising({to.cpp}({number.text}), {number.text})", "warned")
    return _cast(number, to)


def _warns(to: Scalar) -> bool:
    """Whether NumPy warns of a Python float that is too large for a type of floats."""
    return to.family == "numpy" and to.is_float and to.size < 8


def convert_held(sink: Sink, number: Number, to: Scalar) -> Number:
    """The number in another type, which must hold it: so PyTorch takes bounds, choices and what it stores."""
    if number.type != FLOAT or not to.is_float or to.size == FLOAT.size:
        return convert(sink, number, to)
    number = sink.bind(number) if number.constant is None else number
    converted = convert(sink, number, to)
    if number.constant is None or 2.0**15 <= abs(number.constant) < inf:
        sink.fail_if(f"surprising({converted.text}, {number.text})", "bad_conversion")
    return converted


def _within(sink: Sink, number: Number, to: Scalar) -> Number:
    """A Python integer that a narrower type holds."""
    low, high = to.limits
    if to.size == 8:
        if low < 0 or number.low >= 0:
            return number
        number = sink.bind(number)
        sink.fail_if(f"{number.at(COMPARE)} < 0", "bad_conversion")
        return number
    number = sink.bind(number)
    sink.fail_if(f"{number.text} < {low} || {number.text} > {high}", "bad_conversion")
    return number


def _constant(sink: Sink, number: Number, to: Scalar) -> Number:
    value: bool | int | float = number.constant
    if isinstance(value, float) and _warns(to) and not sink.provisional and BEYOND_SINGLE <= abs(value) < inf:
        raise sink.refuse("requirement", f"{value} does not fit {to.name}, of which NumPy warns")
    if isinstance(value, float) and _is_strict(number, to) and not to.limits[0] <= value <= to.limits[1]:
        if sink.provisional:
            return Number("0", to)
        raise sink.refuse("integer-range", f"{number.constant} does not fit {to.name}")
    if to.is_integer and isinstance(value, float) and abs(value) < 2**62:
        value = int(value)
    if to.is_integer and (isinstance(value, float) or not to.limits[0] <= value <= to.limits[1]):
        if sink.provisional:
            return Number("0", to)
        raise sink.refuse("integer-range", f"{number.constant} does not fit {to.name}")
    if to.is_half:
        return Number(f"{to.cpp}({literal(value, Scalar('tensor', 'float32'))})", to, constant=value)
    return constant(bool(value) if to.is_bool else value, to)


def _cast(number: Number, to: Scalar) -> Number:
    return replace(plain(number), text=f"{to.cpp}({number.text})", type=to, level=ATOM)


def _truncated(sink: Sink, number: Number, to: Scalar) -> Number:
    """A float toward zero; out of range (or NaN) is an error or undefined, so the original must see to it."""
    if to.name == "int64" and number.type.name in ("float64", "float32"):
        return _whole(sink, number, to)
    number = sink.bind(number)
    low, high = to.limits
    is_strict = _is_strict(number, to)
    above = f">= {low}.0" if is_strict or low == LEAST else f"> {low - 1}.0"
    below = f"<= {high}.0" if is_strict and to.size < 8 else f"< {high + 1}.0"
    sink.fail_if(f"!({number.text} {above} && {number.text} {below})", "bad_conversion")
    text = f"truncated<{to.cpp}>({number.text})"
    return replace(plain(number), text=text, type=to, level=ATOM, low=LEAST, high=GREATEST)


def _whole(sink: Sink, number: Number, to: Scalar) -> Number:
    """A float as an integer of 64 bits: what has none is the least one, which the original sees to as well."""
    whole = replace(plain(number), text=f"integer_of({number.text})", type=to, level=ATOM, low=LEAST, high=GREATEST)
    whole = sink.bind(whole)
    sink.fail_if(f"{whole.text} == INT64_MIN", "bad_conversion")
    return replace(whole, low=LEAST + 1)


def _is_strict(number: Number, to: Scalar) -> bool:
    """Whether a fraction must lie between the limits itself: PyTorch looks at Python's numbers before it cuts them."""
    return number.type.is_python and to.family == "tensor" and to.is_integer


def truth(number: Number) -> Number:
    """``bool(number)``: everything but zero, NaN included."""
    if number.type.is_bool:
        return replace(plain(number), type=BOOL)
    if number.type == MIXED:
        return truth(as_float(number))
    if number.constant is not None:
        return constant(bool(number.constant), BOOL)
    text = f"{number.at(EQUAL)} != 0"
    return replace(plain(number), text=text, type=BOOL, level=EQUAL, low=0, high=1, other=None)


def to_python(sink: Sink, number: Number) -> Number:
    """``x.item()``: the Python number of the same value."""
    scalar = FLOAT if number.type.is_float else BOOL if number.type.is_bool else INT
    if number.type.name == "uint64":
        number = sink.bind(number)
        sink.fail_if(f"{number.at(COMPARE)} > uint64_t(INT64_MAX)", "integer_overflow")
    return replace(plain(convert(sink, number, scalar)), type=scalar)
