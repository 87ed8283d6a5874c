"""Operations on numbers: from typed C++ expressions to the expression of the result, with its requirements."""

from __future__ import annotations

import itertools
import re
from typing import Any, Protocol

import torch

from looplift.base.data import replace
from looplift.base.errors import NotLiftable
from looplift.emit import native_python
from looplift.emit.native_convert import convert, convert_held, truth
from looplift.emit.native_ops import (
    ACTIVATIONS,
    ARITHMETIC,
    ATOM,
    BITS,
    CHOICE,
    COMPARE,
    COMPARISONS,
    FUNCTIONS,
    LOGIC,
    OR,
    TESTS,
    UNARY,
    Row,
    row_of,
)  # fmt: skip
from looplift.emit.native_types import BOOL, INT, Scalar, common_type, exactly, floating, numpy_function_type
from looplift.emit.native_values import Number, plain


class Sink(Protocol):
    """Where the statements go that an expression needs before it."""

    hint: str
    """The author's name of the value that is being computed."""
    provisional: bool
    checks: bool
    """Whether requirements are still to be checked."""
    device: torch.device | None
    """Where the kernel runs, if not on the CPU."""

    @property
    def is_slow(self) -> bool: ...
    def line(self, text: str) -> None: ...
    def fail_if(self, condition: str, outcome: str) -> None: ...
    def fail_before(self, name: str, condition: str, outcome: str) -> None: ...
    def fresh(self, hint: str) -> str: ...
    def destination(self) -> str: ...
    def bind(self, number: Number, hint: str = "") -> Number: ...
    def differs(self, name: str) -> None: ...
    def doubt(self, result: Number, operands: list[Number]) -> None: ...
    def refuse(self, code: str, message: str) -> NotLiftable: ...


# ---------------------------------------------------------------- types


def types_of(namespace: str, short: str, types: tuple[Scalar, ...]) -> tuple[Scalar, Scalar] | None:
    """The type that an elementwise operation computes in, and that of its result; None if it has none."""
    common = _common(types)
    if common is None:
        return None
    if namespace == "np" and common.is_python:
        common = common.of_family("numpy")
    if short in FUNCTIONS:
        compute = floating(common) if short == "truediv" or common.family != "numpy" else numpy_function_type(common)
        return (compute, compute) if compute is not None else None
    if short in ARITHMETIC:
        compute = INT if common == BOOL else common
        return None if _has_no_difference(short, types, common) else (compute, compute)
    if short in BITS:
        shifts_bools = short in ("lshift", "rshift") and common.is_bool and not common.is_python
        return None if common.is_float or shifts_bools else (common, common)
    if short in COMPARISONS or short in TESTS or short in LOGIC:
        return common, Scalar(common.family, "bool")
    if short in ACTIVATIONS and namespace == "torch" and common.family == "tensor" and common.is_float:
        return None if common.is_half else (common, common)
    return None


def _has_no_difference(short: str, types: tuple[Scalar, ...], common: Scalar) -> bool:
    """Whether the libraries refuse to subtract these: PyTorch any boolean, also one of Python's, NumPy two of them."""
    if short != "sub" or common.is_python:
        return False
    return common.is_bool or (common.family == "tensor" and any(scalar.is_bool for scalar in types))


def _common(types: tuple[Scalar, ...]) -> Scalar | None:
    common: Scalar | None = types[0]
    for scalar in types[1:]:
        common = common_type(common, scalar) if common is not None else None
    return common


# ---------------------------------------------------------------- elementwise operations


def elementwise(sink: Sink, namespace: str, short: str, args: list[Number]) -> Number:
    """One operation on numbers, as Python, PyTorch or NumPy define it for their kinds."""
    if any(argument.other is not None for argument in args):
        return _mixed(sink, namespace, short, args)
    types = tuple(argument.type for argument in args)
    if short == "sub" and any(scalar.is_bool for scalar in types) and not all(scalar.is_python for scalar in types):
        raise sink.refuse("requirement", "'-' of a boolean tensor")
    found = types_of(namespace, short, types)
    if found is None or len(args) != _arity(short):
        raise sink.refuse("unknown-op", f"'{short}' of these kinds has no scalar form")
    compute, result = found
    if compute.is_python and namespace == "torch":
        if not sink.provisional:
            raise sink.refuse("requirement", f"'torch.{short}' takes tensors, not numbers")
        compute, result = floating(compute.of_family("tensor")), result.of_family("tensor")
    if compute.is_python and short not in LOGIC:
        return native_python.arithmetic(sink, short, args)
    if short == "truediv" and args[0].type.is_python and compute.family == "tensor" and namespace != "torch":
        return _number_over_tensor(sink, args, compute)
    if short in COMPARISONS and compute.is_float and not any(argument.type.is_float for argument in args):
        if compute.family == "numpy":
            raise sink.refuse("unknown-op", "a comparison of signed and unsigned integers, which NumPy makes exactly")
    if sink.device is not None and compute.is_float:
        _on_device(sink, short, args, compute)
    converted = [_operand(sink, short, args, position, compute) for position in range(len(args))]
    if short in COMPARISONS:
        return from_template(*COMPARISONS[short], converted, result)
    if short in TESTS:
        return _test(short, converted[0], result)
    if short in LOGIC:
        return from_template(*LOGIC[short], [truth(argument) for argument in args], result)
    if short in BITS:
        return _narrow(from_template(*BITS[short], converted, result), compute)
    if compute.is_bool:
        return _boolean(sink, short, converted, result)
    return _row(sink, short, converted, compute)


def _operand(sink: Sink, short: str, args: list[Number], position: int, compute: Scalar) -> Number:
    """An operand in the type of the operation; PyTorch multiplies halves by other numbers without rounding these."""
    argument = args[position]
    stays = short in ("mul", "truediv", "floordiv") and (position == 1 or (short == "mul" and argument.type.is_python))
    if compute.is_half and argument.type.name != compute.name and stays:
        return convert(sink, argument, Scalar("tensor", "float32"))
    return convert(sink, argument, compute)


def _on_device(sink: Sink, short: str, args: list[Number], compute: Scalar) -> None:
    """Note what PyTorch computes there in another way than here: it multiplies by the reciprocals of numbers, and does
    not round numbers to halves."""
    numbers = [argument for argument in args if argument.type.is_python]
    if compute.is_half and short not in ("mul", "truediv", "floordiv"):
        if any(n.constant is None or not exactly(n.constant, compute) for n in numbers):
            raise sink.refuse("device", f"no kernel for a device: '{short}' takes a number there that is no half")
    divides = short in ("truediv", "floordiv") and args[1].type.is_python
    if divides or (short in FUNCTIONS and short not in ("truediv", "reciprocal", "sqrt")):
        sink.differs(short)


def _number_over_tensor(sink: Sink, args: list[Number], compute: Scalar) -> Number:
    """``number / tensor`` is ``tensor.reciprocal() * number`` in PyTorch, and rounds twice; ``torch.div`` does not."""
    reciprocal = elementwise(sink, "torch", "reciprocal", [args[1]])
    if args[0].constant == 1:
        return reciprocal
    return elementwise(sink, "torch", "mul", [sink.bind(reciprocal), args[0]])


def _arity(short: str) -> int:
    if short in TESTS:
        return 1
    row = row_of(short)
    return 2 if row is None else 1 + ("{b}" in row.text)


OF_TENSORS = frozenset("maximum minimum fmax fmin atan2 arctan2 hypot logaddexp logaddexp2 heaviside".split())
"""Functions of torch that take tensors alone."""


def _mixed(sink: Sink, namespace: str, short: str, args: list[Number]) -> Number:
    """Some operand may be a Python number instead of what it is declared as: the result must not depend on it."""
    if namespace == "torch" and short in OF_TENSORS:
        for argument in args:
            if argument.other is not None:
                _require_tensor(sink, [argument])
        return elementwise(sink, namespace, short, [replace(a, other=None) for a in args])
    if short == "truediv" and namespace != "torch" and _may_be_number_over_tensor(args):
        if not args[0].sure:
            raise sink.refuse("mixed-kinds", "a tensor, or a number at times, divided by a tensor")
        return elementwise(sink, namespace, short, [typed(sink, args[0]), args[1]])
    choices = [(a.type,) if a.other is None else (a.type, a.other) for a in args]
    combinations = list(itertools.product(*choices))
    if namespace == "torch" and any(all(t.is_python for t in types) for types in combinations):
        _require_tensor(sink, args)
        combinations = [types for types in combinations if not all(t.is_python for t in types)]
    found = {types_of(namespace, short, types) for types in combinations}
    compute = next(iter(found))
    if len(found) == 1 and compute is not None:
        args = [typed(sink, a) if a.rounded else a for a in args]
        if any(a.rounded and a.type.name != compute[0].name for a in args if a.other is not None):
            raise sink.refuse("mixed-kinds", "a variable is a number at first and a tensor of another dtype later")
        return elementwise(sink, namespace, short, [replace(a, other=None) for a in args])
    return _mixed_result(sink, namespace, short, args)


def _may_be_number_over_tensor(args: list[Number]) -> bool:
    """Whether an operand that may be a number is divided by one that may be a tensor: PyTorch rounds that twice."""
    number, tensor = args
    return number.other is not None and any(t.family == "tensor" for t in (tensor.type, tensor.other) if t is not None)


def _require_tensor(sink: Sink, args: list[Number]) -> None:
    """A function of torch takes no numbers alone: it raises where none of its operands is a tensor."""
    flags = [a.flag or "false" for a in args if a.other is not None]
    sink.fail_if(f"!({' || '.join(flags)})" if len(flags) > 1 else f"!{flags[0]}", "broken_requirement")


def _mixed_comparison(sink: Sink, namespace: str, short: str, args: list[Number]) -> Number:
    number = elementwise(sink, namespace, short, [replace(a, other=None) for a in args])
    exact = all(not a.rounded and (a.type.size == 8 or _is_exact(a, args)) for a in args)
    exact = exact and _is_compared_alike(namespace, short, args)
    if not exact and any(a.other is not None and a.sure for a in args):
        return elementwise(sink, namespace, short, [typed(sink, a) for a in args])
    if not exact:
        raise sink.refuse("mixed-kinds", "a comparison of a variable that is sometimes a number")
    known = any(a.other is None and not a.type.is_python for a in args)
    if known or number.type.is_python:
        return number
    flag = _flag_of_result(sink, namespace, short, args, number.type)
    sure = all(a.sure for a in args if a.other is not None)
    return replace(number, other=BOOL, flag=flag, homes=homes_of_flags(number, args), sure=sure)


def _is_compared_alike(namespace: str, short: str, args: list[Number]) -> bool:
    """Whether numbers are taken in one type, whichever they are: an integer is one of 8 bits beside a byte."""
    choices = [(a.type,) if a.other is None else (a.type, a.other) for a in args]
    found = {types_of(namespace, short, types) for types in itertools.product(*choices)}
    return len({one and one[0].name for one in found}) == 1


def _is_exact(number: Number, args: list[Number]) -> bool:
    return number.constant is None or all(exactly(number.constant, a.type) for a in args if a is not number)


def _mixed_result(sink: Sink, namespace: str, short: str, args: list[Number]) -> Number:
    if short in COMPARISONS:
        return _mixed_comparison(sink, namespace, short, args)
    others = types_of(namespace, short, tuple(a.other or a.type for a in args))
    zeros = _stays_zero(sink, short, args)
    divides = all(a.type.family in ("python", "numpy") for a in args) or args[-1].type.is_python
    shared = ("add", "sub", "mul", "neg", "pos", "abs", *(("truediv",) if divides else ()))
    same_value = short in shared and not any(a.rounded or a.type.is_half for a in args)
    wide = all(a.type.name in ("float64", "int64") for a in args) or zeros
    certain = any(a.other is None and not a.type.is_python for a in args)  # then the result's dtype is in doubt
    alike = others is not None and (
        _is_computed_alike(namespace, short, args, others[0]) or _is_plain_zero(short, args)
    )
    if others is None or certain or not same_value or not wide or not alike:
        if any(a.other is not None and a.sure for a in args):
            return elementwise(sink, namespace, short, [typed(sink, a) for a in args])
        raise sink.refuse("mixed-kinds", "a variable is a number in some iterations and something else in others")
    if short == "truediv":
        args[1] = sink.bind(args[1])
        sink.fail_if(f"{args[1].at(COMPARE)} == 0", "zero_division")
    number = elementwise(sink, namespace, short, [replace(a, other=None) for a in args])
    flag = _flag_of_result(sink, namespace, short, args, number.type)
    sure = all(a.sure for a in args if a.other is not None)
    homes = homes_of_flags(number, args)
    return replace(number, other=others[1], flag=flag, homes=homes, rounded=False, zero=zeros, sure=sure)


def _is_computed_alike(namespace: str, short: str, args: list[Number], other: Scalar) -> bool:
    """Whether an operation is one of floats, or of integers, whatever kind its operands are of."""
    declared = types_of(namespace, short, tuple(a.type for a in args))
    if short != "truediv" and declared is not None and declared[0].size == 8:
        return declared[0].is_float == other.is_float
    return args[0].type.is_float == other.is_float


def _flag_of_result(sink: Sink, namespace: str, short: str, args: list[Number], result: Scalar) -> str:
    """Whether a result is what it is declared as: where an operand is of which one is enough for that.

    An integer or float beside a number of NumPy's or nothing of it decides nothing: ``1.0 + n`` is a float for both.
    """
    others = tuple(a.other or a.type for a in args)
    least = types_of(namespace, short, others)
    flags: dict[str, None] = {}
    for place, argument in enumerate(args):
        if argument.other is None:
            continue
        types = types_of(namespace, short, (*others[:place], argument.type, *others[place + 1 :]))
        if types is not None and types[1] == result:
            flags[argument.flag or "false"] = None
        elif types is None or least is None or types[1] != least[1]:
            raise sink.refuse("mixed-kinds", "variables of which each is of one kind at times and of another at others")
    return " || ".join(flags) or "false"


def homes_of_flags(number: Number, args: list[Number]) -> frozenset[Any]:
    """The assigned variables that a result mentions whose flag is made of its operands' flags."""
    return number.homes.union(*(argument.homes for argument in args if argument.other is not None))


def typed(sink: Sink, number: Number) -> Number:
    """A number that is what it is declared as, unless a loop has no iteration: then the original runs."""
    if number.other is None or not number.sure or not number.flag:
        return number
    sink.fail_if(f"!{number.flag}", "another_kind")
    return replace(number, other=None, flag="", rounded=False, zero=False)


def _stays_zero(sink: Sink, short: str, args: list[Number]) -> bool:
    """Whether the result is zero, in any precision, where no operand is what it is declared as."""
    numbers = [a for a in args if a.other is not None or a.type.is_python]
    others = [a for a in numbers if not a.zero]
    if short == "mul" and len(others) < len(numbers):
        return all(_is_moderate(sink, a) for a in others)
    if short == "truediv" and numbers and numbers[0] is args[0] and args[0].zero:
        return all(a.type == INT or (a.constant is not None and 1e-30 < abs(a.constant) < 1e30) for a in args[1:])
    return not others


def _is_plain_zero(short: str, args: list[Number]) -> bool:
    """Whether the result is zero without a sign where no operand is what it is declared as."""
    plain = all(a.zero or (a.type.is_python and a.constant is not None and a.constant >= 0) for a in args)
    return plain and short == "mul" and any(a.zero for a in args)


def _is_moderate(sink: Sink, factor: Number) -> bool:
    """Whether a Python number times zero is zero, in any precision; else the kernel fails."""
    if factor.other is not None or factor.constant is not None or factor.type == INT:
        return factor.other is None and (factor.constant is None or abs(factor.constant) < 1e30)
    if factor.homes or factor.reads:
        return False
    sink.fail_before(factor.text, f"!(math::fabs({factor.text}) < 1e30)", "not_exact")
    return True


def _row(sink: Sink, short: str, args: list[Number], compute: Scalar) -> Number:
    row = row_of(short)
    assert row is not None
    is_exact = row.exact or (short == "sqrt" and (compute.family == "numpy" or sink.device is not None))
    if not is_exact:
        sink.differs(short)
    if compute.is_integer:
        return _integer_row(sink, short, row, args, compute)
    if compute.family == "numpy":
        return _watched(sink, short, row, args, compute)
    return _floats(row, args, compute)


def _floats(row: Row, args: list[Number], compute: Scalar) -> Number:
    if compute.is_half:
        args = [a if a.type.name == "float32" else replace(a, text=f"float({a.text})", level=ATOM) for a in args]
        number = from_template(row.text, row.level, args, compute, "float")
        return replace(number, text=f"{compute.cpp}({number.text})", level=ATOM)
    return from_template(row.text, row.level, args, compute)


def _integer_row(sink: Sink, short: str, row: Row, args: list[Number], compute: Scalar) -> Number:
    if short in ("floordiv", "mod", "fmod"):
        sink.fail_if(f"{args[1].at(COMPARE)} == 0", "zero_division")
    if compute.family == "numpy" and short in ("add", "sub", "mul") and sink.checks:
        return _overflow_checked(sink, short, args, compute)
    if compute.family == "numpy" and short in ("neg", "abs", "floordiv", "square"):
        args = [sink.bind(argument) for argument in args]
        comparison = "!=" if short == "neg" and compute.limits[0] == 0 else _EXTREME[short]
        sink.fail_if(f"{args[-1].text} {comparison} {_extreme(short, compute)}", "warned")
    if sink.device is not None:
        row = replace(row, integer=_WRAPPING.get(short, row.integer))
    level = row.level if row.integer == row.text else CHOICE if "?" in row.integer else ATOM
    return _narrow(from_template(row.integer, level, args, compute), compute)


_WRAPPING = {
    "add": "{T}(uint64_t({a}) + uint64_t({b}))", "sub": "{T}(uint64_t({a}) - uint64_t({b}))",
    "mul": "{T}(uint64_t({a}) * uint64_t({b}))", "neg": "{T}(0 - uint64_t({a}))",
    "square": "{T}(uint64_t({a}) * uint64_t({a}))", "abs": "{a} < 0 ? {T}(0 - uint64_t({a})) : {a}",
}  # fmt: skip
"""Integers that wrap around where the compiler takes it that signed ones do not."""
_EXTREME = {"neg": "==", "abs": "==", "floordiv": "==", "square": ">"}


def _extreme(short: str, compute: Scalar) -> str:
    if short == "floordiv":
        return "-1" if compute.limits[0] < 0 else "0"
    least = compute.limits[0]
    return "0" if short == "square" or least == 0 else str(least) if compute.size < 8 else "INT64_MIN"


def _overflow_checked(sink: Sink, short: str, args: list[Number], compute: Scalar) -> Number:
    if sink.is_slow and compute.name == "int64":
        row = ARITHMETIC[short]
        return from_template(row.integer, row.level, args, compute)
    name = sink.fresh(sink.hint)
    sink.line(f"{compute.cpp} {name};")
    a, b = (argument.text for argument in args)
    sink.fail_if(f"__builtin_{short}_overflow({a}, {b}, &{name})", "warned")
    return Number(name, compute)


def _watched(sink: Sink, short: str, row: Row, args: list[Number], compute: Scalar) -> Number:
    """NumPy warns of overflow, division by zero and invalid operations: then the original must run."""
    if short == "sign":
        row = replace(row, text="{a} != {a} ? {a} : sign_of({a})", level=CHOICE)
    if short in ("maximum", "minimum"):
        a, b = args = [sink.bind(argument) for argument in args]
        sink.fail_if(f"{a.text} == {b.text} && math::signbit({a.text}) != math::signbit({b.text})", "not_exact")
    if short in ("neg", "pos", "abs", "sign", "floor", "ceil", "trunc", "round", "maximum", "minimum"):
        return _floats(row, args, compute)
    if short in ("floordiv", "mod"):
        sink.fail_if(f"{args[1].at(COMPARE)} == 0", "warned")
        row = row if short == "floordiv" else replace(row, text="python_remainder<{T}>({a}, {b})")
    args = [sink.bind(argument) for argument in args]
    result = sink.bind(_floats(row, args, compute), sink.hint)
    sink.doubt(result, args)
    return result


def _boolean(sink: Sink, short: str, args: list[Number], result: Scalar) -> Number:
    template = {"add": "{a} || {b}", "maximum": "{a} || {b}", "mul": "{a} && {b}", "minimum": "{a} && {b}"}.get(short)
    if template is None:
        raise sink.refuse("unknown-op", f"'{short}' of booleans")
    return from_template(template, OR if "||" in template else OR - 1, args, result)


def _test(short: str, argument: Number, result: Scalar) -> Number:
    if not argument.type.is_float:
        if short == "signbit" and argument.type.is_integer:
            return from_template("{a} < 0", COMPARE, [argument], result)
        return Number("true" if short == "isfinite" else "false", result)
    if argument.type.is_half:
        argument = replace(argument, text=f"float({argument.text})", level=ATOM)
    return from_template(*TESTS[short], [argument], result)


def _narrow(number: Number, scalar: Scalar) -> Number:
    """C++ computes small integers in int: cut the result back to its type."""
    if scalar.is_bool or scalar.size == 8:
        return number
    return replace(number, text=f"{scalar.cpp}({number.text})", level=ATOM)


_BINARY = re.compile(r"\{a\} \S+ \{b\}")
_CALL = re.compile(r"[\w:<>{}]+\(\{a\}(, (\{b\}|\d))?\)")


def from_template(text: str, level: int, args: list[Number], result: Scalar, type_name: str = "") -> Number:
    type_name = type_name or args[0].type.cpp
    if _BINARY.fullmatch(text):
        texts = [args[0].at(level), args[1].at(level, strict=True)]
    elif _CALL.fullmatch(text):
        texts = [argument.text for argument in args]
    else:
        texts = [argument.at(UNARY, strict=True) for argument in args]
    written = text.format(T=type_name, **dict(zip("ab", texts)))
    return join_facts(Number(written, result, level), args)


def join_facts(number: Number, args: list[Number]) -> Number:
    """Note on an expression what its operands mention and read."""
    homes = frozenset().union(*(argument.homes for argument in args))
    return replace(number, homes=homes, reads=any(argument.reads for argument in args))


# ---------------------------------------------------------------- operations with rules of their own


def negation(sink: Sink, argument: Number) -> Number:
    """``not x``."""
    value = truth(argument)
    if value.text.startswith("!") and value.level == UNARY:
        return replace(value, text=value.text[1:], level=ATOM)
    return join_facts(Number(f"!{value.at(UNARY, strict=True)}", BOOL, UNARY), [argument])


def invert(sink: Sink, argument: Number) -> Number:
    scalar = argument.type
    if scalar.is_float or argument.other is not None:
        raise sink.refuse("unknown-op", "'~' of a float")
    if scalar.is_bool and not scalar.is_python:
        return replace(negation(sink, argument), type=scalar)
    scalar = INT if scalar.is_python else scalar
    value = convert(sink, argument, scalar)
    text = f"~{value.at(UNARY, strict=True)}"
    low, high = (-1 - value.high, -1 - value.low) if scalar.is_python else (value.low, value.high)
    return _narrow(join_facts(Number(text, scalar, UNARY, low=low, high=high), [argument]), scalar)


def select(sink: Sink, args: list[Number]) -> Number:
    """``torch.where(condition, a, b)``."""
    condition, first, second = args
    if first.other is not None or second.other is not None:
        raise sink.refuse("mixed-kinds", "'where' of a variable that is sometimes a number")
    common = common_type(first.type, second.type)
    if common is None or (common.is_python and condition.type.is_python):
        raise sink.refuse("unknown-op", "'where' of these kinds")
    if common.is_python:
        common = common.of_family(condition.type.family)
    if common.family == "tensor" and first.type.is_python and second.type.is_python and common.is_float:
        common = floating(Scalar("tensor", "int64"))
    a, b = (convert_held(sink, argument, common) for argument in (first, second))
    text = f"{truth(condition).at(OR)} ? {a.at(OR)} : {b.at(OR)}"
    return join_facts(Number(text, common, CHOICE), args)


def clamp(sink: Sink, argument: Number, low: Number | None, high: Number | None) -> Number:
    """``torch.clamp(x, low, high)``: below first, then above; a NaN stays."""
    for bound, short in ((low, "maximum"), (high, "minimum")):
        if bound is not None:
            if bound.type.is_float and not argument.type.is_float:
                raise sink.refuse("unknown-op", "'clamp' of integers between floats")
            if bound.type.is_python and argument.type.is_float:
                bound = convert_held(sink, bound, argument.type)
            argument = elementwise(sink, "torch", short, [argument, bound])
    return plain(argument)
