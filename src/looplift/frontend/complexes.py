"""Complex numbers of Python in; their real and imaginary parts as numbers of their own out.

z = 0j                              z_real, z_imag = 0.0, 0.0
while abs(z) <= 2:                  while np.hypot(z_real, z_imag) <= 2:
    z = z * z + c                       z_real, z_imag = (z_real * z_real - z_imag * z_imag + c_real,
                                                          z_real * z_imag + z_imag * z_real + c_imag)

The parts are computed step by step as CPython's ``Objects/complexobject.c`` does up to 3.13: a real operand has an
imaginary part of 0.0, a power of a small integer is made of products, a quotient is Smith's.
Source: R. L. Smith, "Algorithm 116: Complex division", CACM 5(8), 1962.
"""

from __future__ import annotations

import cmath
import math
import sys
import types
from collections.abc import Callable
from typing import Any

from looplift.base.data import dataclass
from looplift.frontend import evident, expressions, iteration
from looplift.frontend.scope import Builder, Parted, Structure, Tup, Value
from looplift.ir.grammar import Atom, Const, Let, Range, Require, Var, as_atom

ZERO = Const(0.0)
LARGEST_POWER = 100
LARGEST_EXPONENT = 708.0
"""Of larger numbers cmath computes the exponential in another way."""
EXACT = (3, 11) <= sys.version_info < (3, 14)
"""Whether this Python computes as is described here."""


@dataclass(eq=False)
class Complex(Parted):
    """A complex number. ``least``: the type that it may have instead, as a literal that a loop begins with is real."""

    least: type = complex
    noun = "a complex number"

    @property
    def real(self) -> Atom:
        return _atom(self.parts.items[0])

    @property
    def imag(self) -> Atom:
        return _atom(self.parts.items[1])

    def atom(self, build: Builder) -> Atom:
        if self.least is not complex:
            raise self.refusal(build, "used as a whole, and may be a real one")
        if isinstance(self.real, Const) and isinstance(self.imag, Const):
            return Const(complex(self.real.value, self.imag.value))
        return build.emit("builtin.complex", self.real, self.imag, hint="number")

    def attribute(self, build: Builder, name: str) -> Value:
        if name not in ("real", "imag") or self.least is int:
            return super().attribute(build, name)
        return self.real if name == "real" else self.imag

    def method(self, build: Builder, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name != "conjugate" or args or kwargs or self.least is not complex:
            return super().method(build, name, args, kwargs)
        return made(self.real, _negated(build, self.imag))


@dataclass(eq=False)
class Magnitude(Structure):
    """The absolute value of what may be an integer: a number of another type, but as large."""

    value: Atom
    noun = "the absolute value of an integer, or of a complex number"


class BecomesComplex(Exception):
    """A name that is a literal number before a loop meets complex numbers in it: its parts are carried."""

    def __init__(self, var: Var):
        self.var = var


def _atom(value: Value) -> Atom:
    assert not isinstance(value, Tup | Structure)
    return value


def made(real: Value, imag: Value, least: type = complex) -> Complex:
    return Complex(Tup((real, imag)), least)


def of_literal(value: Value) -> Complex | None:
    """A literal number as the complex number that arithmetic with one makes of it."""
    if not isinstance(value, Const) or value.path or type(value.value) not in (int, float, complex):
        return None
    if isinstance(value.value, int) and abs(value.value) > 2**53:
        return None
    number = complex(value.value)
    return made(Const(number.real), Const(number.imag), type(value.value))


def with_parts(like: Complex, parts: Value, least: type | None = None) -> Complex:
    assert isinstance(parts, Tup)
    return Complex(parts, least or like.least)


def least_of(*numbers: Complex) -> type:
    """The type that one of several numbers may have."""
    kinds = {number.least for number in numbers}
    return int if int in kinds else float if float in kinds else complex


def _complex_of(build: Builder, value: Value) -> Complex | None:
    """A value that meets a complex number as one itself; None of what may be a tensor or an array."""
    if isinstance(value, Complex):
        return value
    if (literal := of_literal(value)) is not None:
        return literal
    if not isinstance(value, Var):
        return None
    for one in evident.computed_of(build, value):
        begun(build, one)
    if (number := begun(build, value)) is not None:
        return number
    if evident.is_python_number(build, value):
        return made(build.emit("builtin.float", value), ZERO, float)
    return _computed(build, value)


def _computed(build: Builder, value: Var) -> Complex | None:
    """What arithmetic makes of literal complex numbers and of real ones."""
    statement = evident.maker(build, value)
    if not isinstance(statement, Let) or statement.op.name not in _OPERATIONS or not EXACT:
        return None
    first, second = (_complex_of(build, as_atom(one)) for one in statement.op.args)
    if first is None or second is None or complex not in (first.least, second.least):
        return None
    return made(*_OPERATIONS[statement.op.name](build, first, second))


def given_columns(build: Builder, value: Value) -> tuple[Atom, Atom] | None:
    """Of a list of the caller's, all of complex numbers, the list of real and that of imaginary parts."""
    path = build.param_path(value)
    items: Any = build.param_values[path] if path is not None else None
    if type(items) not in (list, tuple) or {*map(type, items)} != {complex} or not EXACT:
        return None
    build.watch(None, f"{{type(row) for row in {path}}}", {complex})
    real, imag = ([getattr(one, name) for one in items] for name in ("real", "imag"))
    return build.live_in(f"[row.real for row in {path}]", real), build.live_in(f"[row.imag for row in {path}]", imag)


def item_of_given(build: Builder, value: Value, read: Callable[[Builder, Atom], Atom]) -> Complex | None:
    """An item of such a list: ``read`` reads it of one of the two."""
    columns = given_columns(build, value)
    return columns and made(read(build, columns[0]), read(build, columns[1]))


def source_of_given(build: Builder, value: Value) -> iteration.Source | None:
    """What a loop over such a list runs through."""
    if (columns := given_columns(build, value)) is None:
        return None
    count = build.emit("iter_len", columns[0], hint="n")

    def item(build: Builder, index: Atom) -> Complex:
        real, imag = (build.emit("iter_item", column, index, hint="item") for column in columns)
        return made(real, imag)

    return iteration.Source(Range(Const(0), count, Const(1), columns[0]), item, columns)


def given(build: Builder, path: str, number: complex) -> Complex:
    """A complex number of the caller's."""
    return made(build.live_in(f"{path}.real", number.real), build.live_in(f"{path}.imag", number.imag))


def both(build: Builder, one: Value, other: Value) -> tuple[Complex, Complex] | None:
    """Two values of one name as complex numbers, where one is; None where the other is none."""
    if not (isinstance(one, Complex) or isinstance(other, Complex)):
        return None
    found = [side if isinstance(side, Complex) else _literal_of(build, side) for side in (one, other)]
    return (found[0], found[1]) if found[0] is not None and found[1] is not None else None


def _literal_of(build: Builder, value: Value) -> Complex | None:
    """A literal; a variable of a loop that is one before the loop is to be carried as one."""
    found = number_before(build, evident.first_value(build, value))
    if found is not None and value in build.entered:
        assert isinstance(value, Var)
        raise BecomesComplex(value)
    return found


def number_before(build: Builder, value: Value) -> Complex | None:
    """A literal, or a complex number of the caller's."""
    path = build.param_path(value)
    number = build.param_values[path] if path is not None else None
    return given(build, str(path), number) if type(number) is complex else of_literal(value)


def begun(build: Builder, value: Value) -> Complex | None:
    """A complex number of the caller's, or a variable of a loop that is one before the loop: its parts are carried."""
    first = number_before(build, evident.first_value(build, value)) if isinstance(value, Var) else None
    if first is None or first.least is not complex:
        return None
    if value in build.entered:
        assert isinstance(value, Var)
        raise BecomesComplex(value)
    return first


def binary(build: Builder, name: str, left: Value, right: Value) -> Value | None:
    """An operation on a complex number; None where there is none, or it meets what is no number of Python's."""
    if not (isinstance(left, Complex) or isinstance(right, Complex)) or not EXACT:
        return None
    if name == "pow":
        return _power(build, left, right)
    if name not in _OPERATIONS:
        return None
    a, b = _complex_of(build, left), _complex_of(build, right)
    if a is None or b is None:
        return None
    is_real = complex not in (a.least, b.least)
    if is_real and name == "truediv":
        raise a.refusal(build, "divided, and both may be real ones")
    real, imag = _OPERATIONS[name](build, a, b)
    return made(real, imag, least_of(a, b) if is_real else complex)


def _sum(build: Builder, a: Complex, b: Complex, name: str = "add") -> tuple[Value, Value]:
    return _of(build, name, a.real, b.real), _of(build, name, a.imag, b.imag)


def _difference(build: Builder, a: Complex, b: Complex) -> tuple[Value, Value]:
    return _sum(build, a, b, "sub")


def _product(build: Builder, a: Complex, b: Complex) -> tuple[Value, Value]:
    real = _of(build, "sub", _of(build, "mul", a.real, b.real), _of(build, "mul", a.imag, b.imag))
    imag = _of(build, "add", _of(build, "mul", a.real, b.imag), _of(build, "mul", a.imag, b.real))
    return real, imag


def _quotient(build: Builder, a: Complex, b: Complex) -> tuple[Value, Value]:
    """By the larger part of the divisor."""
    for part in (b.real, b.imag):
        build.add(Require(_of(build, "eq", part, part), "a divisor is no number", build.span))

    def by(large: Atom, small: Atom, *, swapped: bool) -> Tup:
        ratio = _of(build, "truediv", small, large)
        below = _of(build, "add", large, _of(build, "mul", small, ratio))
        if swapped:
            real = _of(build, "add", _of(build, "mul", a.real, ratio), a.imag)
            imag = _of(build, "sub", _of(build, "mul", a.imag, ratio), a.real)
        else:
            real = _of(build, "add", a.real, _of(build, "mul", a.imag, ratio))
            imag = _of(build, "sub", a.imag, _of(build, "mul", a.real, ratio))
        return Tup((_of(build, "truediv", real, below), _of(build, "truediv", imag, below)))

    if isinstance(b.imag, Const) and b.imag.value == 0:
        found = by(b.real, b.imag, swapped=False)
        return found.items[0], found.items[1]
    is_wide = _of(build, "ge", _size(build, b.real), _size(build, b.imag))
    found = expressions.conditional(
        build,
        is_wide,
        lambda: by(b.real, b.imag, swapped=False),
        lambda: by(b.imag, b.real, swapped=True),
    )
    assert isinstance(found, Tup)
    return found.items[0], found.items[1]


_OPERATIONS: dict[str, Callable[[Builder, Complex, Complex], tuple[Value, Value]]] = {
    "add": _sum, "sub": _difference, "mul": _product, "truediv": _quotient,
}  # fmt: skip


def _power(build: Builder, left: Value, right: Value) -> Complex | None:
    """A literal power of a complex number, by squares."""
    if not isinstance(left, Complex) or not isinstance(right, Const) or type(right.value) not in (int, float):
        return None
    if right.path or right.value != int(right.value) or not 1 <= right.value <= LARGEST_POWER:
        return None
    if left.least is not complex:
        raise left.refusal(build, "raised to a power, and may be a real one")
    rest, found, square = int(right.value), made(Const(1.0), ZERO), left
    while True:
        if rest & 1:
            found = made(*_product(build, found, square))
        rest >>= 1
        if not rest:
            break
        square = made(*_product(build, square, square))
    for part in (found.real, found.imag):
        build.add(Require(_not(build, _isinf(build, part)), "a complex power overflows", build.span))
    return found


def unary(build: Builder, name: str, value: Complex) -> Complex:
    """``-z`` and ``+z``."""
    if name == "pos":
        return value
    if name != "neg" or value.least is not complex:
        raise value.refusal(build, f"used by '{name}'")
    return made(_negated(build, value.real), _negated(build, value.imag))


def compared(build: Builder, name: str, left: Value, right: Value) -> Atom | None:
    """``==`` and ``!=`` of complex numbers, and any comparison of the absolute value of one."""
    if isinstance(left, Magnitude) or isinstance(right, Magnitude):
        sides = [side.value if isinstance(side, Magnitude) else build.atom(side) for side in (left, right)]
        return build.emit(name, *sides)
    if name not in ("eq", "ne") or not (isinstance(left, Complex) or isinstance(right, Complex)):
        return None
    a, b = _complex_of(build, left), _complex_of(build, right)
    if a is None or b is None:
        return None
    same = [_of(build, "eq", a.real, b.real), _of(build, "eq", a.imag, b.imag)]
    found = build.atom(expressions.conditional(build, same[0], lambda: same[1], lambda: Const(False)))
    return found if name == "eq" else _not(build, found)


def called(build: Builder, function: object, args: list[Value]) -> Value | None:
    """``complex(...)``, and ``abs(z)`` of a complex number; None of any other call."""
    if function is complex and 0 < len(args) < 3 and EXACT:
        return _made_of(build, args)
    if function is abs and len(args) == 1 and isinstance(args[0], Complex):
        found = _absolute(build, args[0])
        return Magnitude(found) if args[0].least is int else found
    if function is abs or function is complex or not EXACT:
        return None
    numbers = [_complex_of(build, one) for one in args]
    known = [one for one in numbers if one is not None]
    if function is cmath.rect:
        return _of_polar(build, known) if len(known) == len(args) == 2 else None
    return _OF_CMATH[function](build, *known) if len(known) == len(args) == 1 else None


def is_function(value: object) -> bool:
    """Whether ``called`` knows a function."""
    if type(value) is types.BuiltinFunctionType:
        return value is abs or value is cmath.rect or value in _OF_CMATH
    return value is complex


# ---------------------------------------------------------------- functions of cmath, as Modules/cmathmodule.c has them


def _exponential(build: Builder, number: Complex) -> Complex:
    _check_finite(build, number.real, number.imag)
    if isinstance(number.real, Const):
        largest: Atom = Const(number.real.value <= LARGEST_EXPONENT)
    else:
        largest = build.emit("le", number.real, Const(LARGEST_EXPONENT))
    build.add(Require(largest, "a complex exponential overflows", build.span))
    size = build.emit("math.exp", number.real)
    return _turned(build, size, number.imag)


def _turned(build: Builder, size: Atom, angle: Atom) -> Complex:
    real = build.emit("mul", size, build.emit("math.cos", angle))
    return made(real, build.emit("mul", size, build.emit("math.sin", angle)))


def _phase(build: Builder, number: Complex) -> Atom:
    _check_finite(build, number.real, number.imag)
    return build.emit("math.atan2", number.imag, number.real)


def _polar(build: Builder, number: Complex) -> Tup:
    return Tup((_absolute(build, number), _phase(build, number)))


def _of_polar(build: Builder, numbers: list[Complex]) -> Complex | None:
    if any(one.least is complex for one in numbers):
        return None
    size, angle = (one.real for one in numbers)
    _check_finite(build, size, angle)
    return _turned(build, size, angle)


def _check_finite(build: Builder, *parts: Atom) -> None:
    for part in parts:
        known = isinstance(part, Const)
        finite = Const(math.isfinite(part.value)) if known else build.emit("math.isfinite", part)
        build.add(Require(finite, "a complex number is not finite", build.span))


_OF_CMATH: dict[object, Callable[[Builder, Complex], Value]] = {
    cmath.exp: _exponential, cmath.phase: _phase, cmath.polar: _polar,
}  # fmt: skip


def _made_of(build: Builder, args: list[Value]) -> Complex | None:
    if len(args) == 1 and isinstance(args[0], Complex):
        return made(args[0].real, args[0].imag)
    if len(args) == 1 and (item := _item_of_array(build, args[0])) is not None:
        return item
    known = [of_literal(one) for one in args]
    if any(isinstance(one, Structure | Tup) or _is_given_complex(build, one) for one in args):
        return None
    if any(isinstance(one, Const) and (literal is None or literal.least is complex)
           for one, literal in zip(args, known, strict=True)):  # fmt: skip
        return None
    parts = [build.emit("builtin.float", _atom(one)) if literal is None else literal.real
             for one, literal in zip(args, known, strict=True)]  # fmt: skip
    return made(parts[0], parts[1] if len(parts) > 1 else ZERO)


def _item_of_array(build: Builder, value: Value) -> Complex | None:
    """An element of an array of the caller's of complex numbers, by its parts, which are arrays in the same memory."""
    statement = evident.maker(build, value) if isinstance(value, Var) else None
    if not isinstance(statement, Let) or statement.op.name not in ("getitem", "iter_item"):
        return None
    owner, *index = statement.op.args
    path = build.param_path(owner) if isinstance(owner, Var) else None
    array: Any = build.param_values[path] if path is not None else None
    if "complex" not in str(getattr(array, "dtype", "")) or getattr(array, "requires_grad", False):
        return None
    columns = [build.live_in(f"{path}.{name}", getattr(array, name)) for name in ("real", "imag")]
    parts = [build.emit(statement.op.name, column, *index, hint="item") for column in columns]
    real, imag = (build.emit("builtin.float", part) for part in parts)
    return made(real, imag)


def _is_given_complex(build: Builder, value: Value) -> bool:
    path = build.param_path(value)
    return path is not None and isinstance(build.param_values[path], complex)


def _absolute(build: Builder, value: Complex) -> Atom:
    """The C library's ``hypot``, as Python's ``abs`` has it; ``math.hypot`` is another function."""
    import numpy as np

    if isinstance(value.real, Const) and isinstance(value.imag, Const):
        return Const(float(np.hypot(value.real.value, value.imag.value)))
    found = build.emit("builtin.float", build.emit("np.hypot", value.real, value.imag))
    overflows = expressions.conditional(
        build,
        _isinf(build, found),
        lambda: _not(build, build.emit("or_", _isinf(build, value.real), _isinf(build, value.imag))),
        lambda: Const(False),
    )
    build.add(Require(_not(build, build.atom(overflows)), "an absolute value overflows", build.span))
    return found


def _of(build: Builder, name: str, left: Value, right: Value) -> Atom:
    """An operation on two parts."""
    left, right = _atom(left), _atom(right)
    if isinstance(left, Const) and isinstance(right, Const) and name != "truediv":
        return Const(expressions.fold(name, left.value, right.value))
    return build.emit(name, left, right)


def _size(build: Builder, part: Atom) -> Atom:
    return Const(abs(part.value)) if isinstance(part, Const) else build.emit("builtin.abs", part)


def _negated(build: Builder, part: Atom) -> Atom:
    return Const(-part.value) if isinstance(part, Const) else build.emit("neg", part)


def _isinf(build: Builder, part: Atom) -> Atom:
    return Const(math.isinf(part.value)) if isinstance(part, Const) else build.emit("math.isinf", part)


def _not(build: Builder, test: Atom) -> Atom:
    return Const(not test.value) if isinstance(test, Const) else build.emit("not", test)
