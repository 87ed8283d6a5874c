"""Arithmetic of Python's own numbers: exact integers within 64 bits, the C library's floats, Python's errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.base.data import replace
from looplift.emit import native_mixed
from looplift.emit.native_convert import constant, convert
from looplift.emit.native_ops import (
    ADD,
    ATOM,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    BITS,
    CHOICE,
    COMPARE,
    COMPARISONS,
    EQUAL,
    MATH,
    MULTIPLY,
    SHIFT,
    UNARY,
)  # fmt: skip
from looplift.emit.native_types import BOOL, FLOAT, INT, MIXED, type_of_constant
from looplift.emit.native_values import GREATEST, LEAST, Number
from looplift.ops import decimals

if TYPE_CHECKING:
    from looplift.emit.native_scalar import Sink

EXACT = 2**53


def arithmetic(sink: Sink, short: str, args: list[Number]) -> Number:
    """An operator on Python numbers."""
    if all(argument.constant is not None for argument in args) and (folded := _folded(short, args)) is not None:
        return folded
    if any(argument.type == MIXED for argument in args):
        return native_mixed.arithmetic(sink, short, args)
    if short in COMPARISONS:
        return _compare(sink, short, args)
    if short in ("lshift", "rshift"):
        return _shift(sink, short, args)
    if short in BITS:
        return _bits(sink, short, args)
    if short == "truediv":
        return _true_division(sink, args)
    if any(argument.type.is_float for argument in args):
        return _floats(sink, short, [convert(sink, argument, FLOAT) for argument in args])
    return _integers(sink, short, [convert(sink, argument, INT) for argument in args])


def _folded(short: str, args: list[Number]) -> Number | None:
    import operator

    try:
        value = getattr(operator, short)(*(argument.constant for argument in args))
    except (ArithmeticError, AttributeError):
        return None
    scalar = type_of_constant(value)
    fits = scalar is not None and (scalar != INT or LEAST < value <= GREATEST)
    return constant(value, scalar) if fits and scalar is not None else None


def joined(number: Number, args: list[Number]) -> Number:
    homes = frozenset().union(*(argument.homes for argument in args))
    return replace(number, homes=homes, reads=any(argument.reads for argument in args))


# ---------------------------------------------------------------- floats


_FLOAT_OPERATORS = {"add": ("+", ADD), "sub": ("-", ADD), "mul": ("*", MULTIPLY)}


def _floats(sink: Sink, short: str, args: list[Number]) -> Number:
    if short in _FLOAT_OPERATORS:
        symbol, level = _FLOAT_OPERATORS[short]
        text = f"{args[0].at(level)} {symbol} {args[1].at(level, strict=True)}"
        return joined(Number(text, FLOAT, level), args)
    match short:
        case "neg":
            return joined(Number(f"-{args[0].at(UNARY, strict=True)}", FLOAT, UNARY), args)
        case "pos":
            return args[0]
        case "abs":
            return joined(Number(f"math::fabs({args[0].text})", FLOAT), args)
        case "floordiv" | "mod":
            sink.fail_if(f"{args[1].at(EQUAL)} == 0", "zero_division")
            function = "floor_divide" if short == "floordiv" else "python_remainder"
            return joined(Number(f"{function}<double>({args[0].text}, {args[1].text})", FLOAT), args)
    raise sink.refuse("unknown-op", f"'{short}' of Python floats")


def _true_division(sink: Sink, args: list[Number]) -> Number:
    if not args[1].constant:
        args = [args[0], sink.bind(args[1])]
        sink.fail_if(f"{args[1].at(EQUAL)} == 0", "zero_division")
    if not any(argument.type.is_float for argument in args):
        args = [exactly_held(sink, argument) for argument in args]
    a, b = (convert(sink, argument, FLOAT) for argument in args)
    return joined(Number(f"{a.at(MULTIPLY)} / {b.at(MULTIPLY, strict=True)}", FLOAT, MULTIPLY), args)


def exactly_held(sink: Sink, number: Number) -> Number:
    """Require that an integer is a double."""
    if number.type.is_float or (number.low >= -EXACT and number.high <= EXACT):
        return number
    number = sink.bind(number)
    sink.fail_if(f"inexact({number.text})", "not_exact")
    return number


def _compare(sink: Sink, short: str, args: list[Number]) -> Number:
    if any(argument.type.is_float for argument in args):
        args = [convert(sink, exactly_held(sink, argument), FLOAT) for argument in args]
    text, level = COMPARISONS[short]
    a, b = args[0].at(level), args[1].at(level, strict=True)
    return joined(Number(text.format(a=a, b=b), BOOL, level, low=0, high=1), args)


# ---------------------------------------------------------------- integers


def _products(a: Number, b: Number) -> tuple[int, int]:
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return min(ends), max(ends)


_BOUNDS: dict[str, Callable[[Number, Number], tuple[int, int]]] = {
    "add": lambda a, b: (a.low + b.low, a.high + b.high),
    "sub": lambda a, b: (a.low - b.high, a.high - b.low),
    "mul": _products,
}


def _integers(sink: Sink, short: str, args: list[Number]) -> Number:
    if short in _BOUNDS:
        return _checked(sink, short, args)
    match short:
        case "neg" | "abs":
            return _negated(sink, short, args[0])
        case "pos":
            return args[0]
        case "floordiv" | "mod":
            return _divided(sink, short, *args)
    raise sink.refuse("unknown-op", f"'{short}' of Python integers")


def _checked(sink: Sink, short: str, args: list[Number]) -> Number:
    """Python's integers have no end: an overflow of 64 bits must not happen."""
    low, high = _BOUNDS[short](*args)
    symbol, level = _FLOAT_OPERATORS[short]
    if (low >= LEAST and high <= GREATEST) or not sink.checks or sink.is_slow:
        low, high = max(low, LEAST), min(high, GREATEST)
        text = f"{args[0].at(level)} {symbol} {args[1].at(level, strict=True)}"
        return joined(Number(text, INT, level, low, high, _below(short, args), _affine(short, args)), args)
    name = sink.destination()
    sink.fail_if(f"__builtin_{short}_overflow({args[0].text}, {args[1].text}, &{name})", "integer_overflow")
    return Number(name, INT, low=max(low, LEAST), high=min(high, GREATEST))


def _affine(short: str, args: list[Number]) -> tuple[str, int] | None:
    """``i + 1`` and ``i - 1`` move with ``i``."""
    index, offset = (args[0], args[1].constant) if args[0].affine is not None else (args[1], args[0].constant)
    if index.affine is None or type(offset) is not int or (short == "sub" and index is args[1]) or short == "mul":
        return None
    return index.affine[0], index.affine[1] + (offset if short == "add" else -offset)


def _below(short: str, args: list[Number]) -> frozenset[str]:
    """``i - 1`` is below what ``i`` is below."""
    return args[0].below if short == "sub" and args[1].low >= 0 else frozenset()


def _negated(sink: Sink, short: str, argument: Number) -> Number:
    argument = argument if argument.level == ATOM else sink.bind(argument)
    if argument.low == LEAST:
        sink.fail_if(f"{argument.text} == INT64_MIN", "integer_overflow")
    if short == "abs":
        if argument.low >= 0:
            return argument
        text = "{0} < 0 ? -{0} : {0}".format(argument.at(UNARY, strict=True))
        high = min(max(-argument.low, argument.high), GREATEST)
        return joined(Number(text, INT, CHOICE, low=0, high=high), [argument])
    low, high = max(-argument.high, LEAST), min(-argument.low, GREATEST)
    return joined(Number(f"-{argument.at(UNARY, strict=True)}", INT, UNARY, low, high), [argument])


def _divided(sink: Sink, short: str, a: Number, b: Number) -> Number:
    if b.low <= 0 <= b.high:
        b = sink.bind(b)
        sink.fail_if(f"{b.at(EQUAL)} == 0", "zero_division")
    if a.low == LEAST and b.low <= -1 <= b.high:
        a = sink.bind(a)
        sink.fail_if(f"{a.at(EQUAL)} == INT64_MIN && {b.at(EQUAL)} == -1", "integer_overflow")
    if b.low == 0:
        b = replace(b, low=1)
    low, high = _quotient(short, a, b)
    below = frozenset({b.text}) if short == "mod" and b.is_simple and low == 0 else frozenset()
    is_positive = a.low >= 0 and b.low > 0
    if is_positive and (b.constant is not None or short == "floordiv"):
        symbol = "/" if short == "floordiv" else "%"
        text = f"{a.at(MULTIPLY)} {symbol} {b.at(MULTIPLY, strict=True)}"
        return joined(Number(text, INT, MULTIPLY, low, high, below), [a, b])
    function = "integer_floor_divide" if short == "floordiv" else "integer_remainder"
    return joined(Number(f"{function}<int64_t>({a.text}, {b.text})", INT, low=low, high=high, below=below), [a, b])


def _quotient(short: str, a: Number, b: Number) -> tuple[int, int]:
    """The least and the greatest of ``a // b`` or ``a % b``."""
    if b.low <= 0:
        return LEAST, GREATEST
    if short == "mod":
        return 0, min(a.high, b.high - 1) if a.low >= 0 else b.high - 1
    return min(a.low // b.low, 0 if a.low >= 0 else -1), max(a.high // b.low, 0 if a.high >= 0 else -1)


_BIT_SYMBOLS = {"and_": ("&", BIT_AND), "or_": ("|", BIT_OR), "xor": ("^", BIT_XOR)}


def _bits(sink: Sink, short: str, args: list[Number]) -> Number:
    both_bool = all(argument.type.is_bool for argument in args)
    scalar = BOOL if both_bool else INT
    a, b = (convert(sink, argument, scalar) for argument in args)
    symbol, level = _BIT_SYMBOLS[short]
    low, high = LEAST, GREATEST
    if short == "and_" and (a.low >= 0 or b.low >= 0):
        low, high = 0, min(n.high for n in (a, b) if n.low >= 0)
    elif a.low >= 0 and b.low >= 0:
        low, high = 0, 2 ** max(a.high.bit_length(), b.high.bit_length()) - 1
    text = f"{a.at(level)} {symbol} {b.at(level, strict=True)}"
    return joined(Number(text, scalar, level, low=low, high=high), [a, b])


def _shift(sink: Sink, short: str, args: list[Number]) -> Number:
    """``a << b`` and ``a >> b``."""
    if any(argument.type.is_float or argument.other is not None for argument in args):
        raise sink.refuse("unknown-op", "a shift of a float")
    a, b = (sink.bind(convert(sink, argument, INT)) for argument in args)
    if b.low < 0:
        sink.fail_if(f"{b.at(COMPARE)} < 0", "domain_error")
    if short == "rshift":
        amount = b.text if b.high < 64 else f"({b.text} > 63 ? 63 : {b.text})"
        number = Number(f"{a.at(SHIFT)} >> {amount}", INT, SHIFT, low=min(a.low, 0), high=max(a.high, 0))
        return joined(number, [a, b])
    if b.high > 62:
        sink.fail_if(f"{b.at(COMPARE)} > 62", "integer_overflow")
    if not sink.checks:
        return joined(Number(f"{a.at(SHIFT)} << {b.at(SHIFT, strict=True)}", INT, SHIFT), [a, b])
    name = sink.destination()
    sink.fail_if(f"__builtin_mul_overflow({a.text}, INT64_C(1) << {b.text}, &{name})", "integer_overflow")
    return Number(name, INT, low=0 if a.low >= 0 else LEAST)


# ---------------------------------------------------------------- powers and functions


def power(sink: Sink, base: Number, exponent: Number) -> Number:
    """``a ** b``; a result that is complex, or does not fit, is left to the original."""
    if MIXED in (base.type, exponent.type) and FLOAT not in (base.type, exponent.type):
        raise sink.refuse("mixed-kinds", "'**' of a variable that is an integer at times and a float at others")
    both_integer = not base.type.is_float and not exponent.type.is_float
    if both_integer and (exponent.constant is None or exponent.constant >= 0):
        return _integer_power(sink, convert(sink, base, INT), convert(sink, exponent, INT))
    if both_integer:
        base, exponent = exactly_held(sink, base), exactly_held(sink, exponent)
    return _library(sink, MATH["pow"], [base, exponent])


def _integer_power(sink: Sink, base: Number, exponent: Number) -> Number:
    if exponent.constant == 2:
        return _checked(sink, "mul", [base, base])
    if exponent.low < 0:
        exponent = sink.bind(exponent)
        sink.fail_if(f"{exponent.at(COMPARE)} < 0", "domain_error")
    if not sink.checks:
        return joined(Number(f"wrapping_power<int64_t>({base.text}, {exponent.text})", INT), [base, exponent])
    name = sink.destination()
    sink.fail_if(f"!checked_power({base.text}, {exponent.text}, &{name})", "integer_overflow")
    return Number(name, INT)


_ROUNDED_ALIKE = ("sqrt", "fmod", "fabs", "copysign")
"""Functions of the C library that have one result everywhere."""


def _library(sink: Sink, template: str, args: list[Number]) -> Number:
    function = template.partition("(")[0].removeprefix("math::")
    if sink.device is not None and function not in _ROUNDED_ALIKE:
        why = f"no kernel for a device: '{function}' of Python's floats is rounded otherwise there"
        raise sink.refuse("device", why)
    args = [sink.bind(convert(sink, argument, FLOAT)) for argument in args]
    text = template.format(**dict(zip("ab", (a.at(UNARY, strict=True) for a in args))))
    result = sink.bind(joined(Number(text, FLOAT, ATOM), args), sink.hint)
    operands = ", ".join(argument.text for argument in args)
    sink.fail_if(f"surprising({result.text}, {operands})", "domain_error")
    return result


def math_function(sink: Sink, short: str, args: list[Number]) -> Number:
    """A function of the math module."""
    if any(argument.other is not None and argument.rounded for argument in args):
        raise sink.refuse("mixed-kinds", "a function of 'math' on a variable that changes its dtype")
    match short, args:
        case "trunc", [argument] if not argument.type.is_python:
            raise sink.refuse("requirement", "'math.trunc' takes Python's numbers alone")
        case (("floor" | "ceil" | "trunc"), [argument]):
            return _to_integer(sink, short, argument)
        case (("isnan" | "isinf" | "isfinite"), [argument]):
            value = convert(sink, argument, FLOAT)
            return joined(Number(f"math::{short}({value.text})", BOOL, low=0, high=1), args)
        case "log", [argument, base]:
            top, bottom = (_library(sink, MATH["log"], [value]) for value in (argument, base))
            return _true_division(sink, [top, bottom])
    if short not in MATH or ("{b}" in MATH[short]) != (len(args) == 2):
        raise sink.refuse("unknown-op", f"'math.{short}' has no rule")
    if short in ("fabs", "degrees", "radians", "copysign"):
        values = [convert(sink, argument, FLOAT) for argument in args]
        text = MATH[short].format(**dict(zip("ab", (value.at(UNARY, strict=True) for value in values))))
        return joined(Number(text, FLOAT, MULTIPLY if "*" in text else ATOM), args)
    return _library(sink, MATH[short], args)


def _to_integer(sink: Sink, short: str, argument: Number) -> Number:
    if argument.type.is_python and not argument.type.is_float:
        return convert(sink, argument, INT)
    value = convert(sink, argument, FLOAT)
    return convert(sink, joined(Number(f"math::{short}({value.text})", FLOAT), [value]), INT)


def rounded(sink: Sink, argument: Number) -> Number:
    """``round(x)``: to the nearest integer, ties to even."""
    if not argument.type.is_float:
        return convert(sink, argument, INT)
    return convert(sink, joined(Number(f"math::nearbyint({argument.text})", FLOAT), [argument]), INT)


def rounded_to(sink: Sink, argument: Number, digits: Number) -> Number:
    """``round(x, digits)``: to so many decimal places; integers have none."""
    factor = decimals.factor(digits.low if digits.type == INT and digits.low == digits.high else None)
    if factor is None:
        raise sink.refuse("unknown-op", "'round' to digits that are not known, negative or more than 22")
    if argument.type in (INT, BOOL):
        return convert(sink, argument, INT)
    if argument.type != FLOAT:
        raise sink.refuse("unknown-op", "'round' of what is now an integer and now a float")
    return joined(Number(f"round_to({argument.text}, {factor!r})", FLOAT), [argument])
