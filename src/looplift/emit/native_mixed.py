"""Numbers of Python's that are integers at one time and floats at another: as one C++ type in, exact operations out.

A ``Number`` in C++ is a double and a flag that tells which of the two it is. Integers stay below 2^53, where a double
holds each of them, so that a comparison needs no flag and what is handed out has the type that Python gives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.base.data import replace
from looplift.emit.native_ops import ADD, ATOM, MULTIPLY, UNARY
from looplift.emit.native_types import FLOAT, INT, MIXED, Scalar
from looplift.emit.native_values import GREATEST, LEAST, Number, View, plain

if TYPE_CHECKING:
    from looplift.emit.native_scalar import Sink
    from looplift.emit.native_writer import Writer
    from looplift.ir.grammar import Var

EXACT = 2**53
_KINDS = (INT, FLOAT, MIXED)


def are_mixed(*types: Scalar) -> bool:
    """Whether these are Python's integers and floats, and not all of one type."""
    return all(scalar in _KINDS for scalar in types) and (len(set(types)) > 1 or MIXED in types)


# ---------------------------------------------------------------- conversions


def as_mixed(sink: Sink, number: Number) -> Number:
    """An integer or a float as a number that may be either."""
    if number.type == MIXED:
        return plain(number)
    if number.type not in _KINDS or number.other is not None:
        raise sink.refuse("mixed-kinds", "a value that is neither an integer nor a float")
    if number.type == INT and not (number.low >= -EXACT and number.high <= EXACT):
        number = sink.bind(number)
        sink.fail_if(f"inexact({number.text})", "not_exact")
    return _made(number)


def _made(number: Number) -> Number:
    return replace(
        plain(number), text=f"Number({number.text})", type=MIXED, level=ATOM, low=LEAST, high=GREATEST,
        below=frozenset(), affine=None, constant=None, zero=False,
    )  # fmt: skip


def as_float(number: Number) -> Number:
    """``float(number)``."""
    return replace(plain(number), text=f"{number.at(ATOM)}.value", type=FLOAT, level=ATOM)


def as_integer(sink: Sink, number: Number) -> Number:
    """A number that is an integer here; where it is a float the original runs, and raises or not."""
    if number.type != MIXED:
        return number
    number = sink.bind(number)
    sink.fail_if(f"{number.text}.real", "another_kind")
    return replace(plain(number), text=f"int64_t({number.text}.value)", type=INT, level=ATOM, low=-EXACT, high=EXACT)


# ---------------------------------------------------------------- operations


_OPERATORS = {"add": ("+", ADD), "sub": ("-", ADD), "mul": ("*", MULTIPLY)}


def arithmetic(sink: Sink, short: str, args: list[Number]) -> Number:
    """An operator on numbers of which some may be either; beside a float the result is a float."""
    from looplift.emit import native_python

    if any(argument.type == FLOAT for argument in args) or short in _OF_FLOATS:
        args = [native_python.exactly_held(sink, argument) for argument in args]
        return native_python.arithmetic(sink, short, [as_float(a) if a.type == MIXED else a for a in args])
    if any(argument.type not in (INT, MIXED) for argument in args):
        raise sink.refuse("mixed-kinds", f"'{short}' of an integer or float and a boolean")
    args = [as_mixed(sink, argument) for argument in args]
    if short == "pos":
        return args[0]
    if short in ("neg", "abs"):
        text = f"-{args[0].at(UNARY, strict=True)}" if short == "neg" else f"absolute({args[0].text})"
        return native_python.joined(Number(text, MIXED, UNARY if short == "neg" else ATOM), args)
    return _checked(sink, short, args)


_OF_FLOATS = ("truediv", "lt", "le", "gt", "ge", "eq", "ne")


def _checked(sink: Sink, short: str, args: list[Number]) -> Number:
    """An operation of which an integer result must stay small enough to be exact."""
    from looplift.emit.native_python import joined

    if short in _OPERATORS:
        symbol, level = _OPERATORS[short]
        text = f"{args[0].at(level)} {symbol} {args[1].at(level, strict=True)}"
    elif short in ("floordiv", "mod"):
        level, args = ATOM, [args[0], sink.bind(args[1])]
        sink.fail_if(f"{args[1].text}.value == 0", "zero_division")
        text = f"{'quotient_of' if short == 'floordiv' else 'rest_of'}({args[0].text}, {args[1].text})"
    else:
        raise sink.refuse("unknown-op", f"'{short}' of a variable that is an integer at times and a float at others")
    number = sink.bind(joined(Number(text, MIXED, level), args), sink.hint)
    sink.fail_if(f"{number.text}.is_large()", "integer_overflow")
    return number


# ---------------------------------------------------------------- lists


def widens(writer: Writer, view: View, *others: Scalar) -> bool:
    """Whether a list has to hold integers and floats both, to take numbers of other types; it is noted."""
    if not writer.findings.mixes or view.rank == 0 or not are_mixed(view.type, *others):
        return False
    return note(writer, view.origin)


def note(writer: Writer, origin: Var | None) -> bool:
    """Have the next pass make a list that may hold both; whether there is a next pass."""
    if origin is None or not writer.provisional:
        return False
    writer.findings.mixed.add(origin)
    return True


def element_type_of(writer: Writer, scalar: Scalar) -> Scalar:
    """The type of the items of the list that is being made."""
    return MIXED if scalar in (INT, FLOAT) and writer.current in writer.findings.mixed else scalar


def copy_line(target: str, source: str, given: Scalar, held: Scalar) -> str:
    """The statement that copies numbers into a list of another type, which fails where one does not fit."""
    if given == INT and held == MIXED:
        return f"if (!widened({target}, {source})) return not_exact;"
    return f"copy({target}, {source});"


NUMBER = """\
// A number of Python's that is an integer or a float. Integers are below 2^53, so that a double holds each of them.
struct Number {
  double value;
  int64_t real;
  Number() = default;
  Number(int integer) : value(integer), real(0) {}
  Number(int64_t integer) : value(double(integer)), real(0) {}
  Number(double number) : value(number), real(1) {}
  Number(double number, int64_t is_real) : value(is_real ? number : number + 0.0), real(is_real) {}
  operator double() const { return value; }
  bool is_large() const { return !real && !(math::fabs(value) < 9007199254740992.0); }
};
static inline Number operator+(Number a, Number b) { return {a.value + b.value, a.real | b.real}; }
static inline Number operator-(Number a, Number b) { return {a.value - b.value, a.real | b.real}; }
static inline Number operator*(Number a, Number b) { return {a.value * b.value, a.real | b.real}; }
static inline Number operator-(Number a) { return {-a.value, a.real}; }
"""
ABSOLUTE = """\
static inline Number absolute(Number a) { return {math::fabs(a.value), a.real}; }
"""
QUOTIENT = """\
static inline Number quotient_of(Number a, Number b) {
  return {floor_divide<double>(a.value, b.value), a.real | b.real};
}
"""
REST = """\
static inline Number rest_of(Number a, Number b) {
  return {python_remainder<double>(a.value, b.value), a.real | b.real};
}
"""
WIDENED = """\
// Copies integers to where floats may be too; false where a double does not hold one of them.
template <class U, int rank> static inline bool widened(const View<Number, rank>& to, const View<U, rank>& from) {
  if constexpr (rank == 1) {
    for (int64_t k = 0; k < from.size[0]; ++k) {
      if (inexact(from(k))) return false;
      to(k) = Number(from(k));
    }
  } else {
    for (int64_t k = 0; k < from.size[0]; ++k)
      if (!widened(row_at<0>(to, k), row_at<0>(from, k))) return false;
  }
  return true;
}
"""
MIXES: dict[str, str] = {
    "Number": NUMBER,
    "absolute": ABSOLUTE,
    "quotient_of": QUOTIENT,
    "rest_of": REST,
    "widened": WIDENED,
}
"""The C++ of such numbers, each under the name by which kernels call it."""

PACK_MIXED = '''

def packed_mixed(items, depth, writes):
    """A list of integers and floats, or of lists of them, as pairs of a number and a flag, and its sizes."""
    numbers, sizes, rows = nested_rows(items, depth, writes)
    if not {int, float}.issuperset(map(type, numbers)):
        raise failed({another_kind})
    if any(type(number) is int and not -(2**53) <= number <= 2**53 for number in numbers):
        raise failed({not_exact})
    pairs = array.array("d", bytes(16 * len(numbers)))
    pairs[::2] = array.array("d", numbers)
    pairs[1::2] = array.array("d", [type(number) is float for number in numbers])
    return pairs, sizes, rows


def put_back_mixed(packed):
    """The numbers that a kernel changed, in the lists that they came from."""
    pairs, sizes, rows = packed
    numbers = unpaired(pairs.tolist(), memoryview(pairs).cast("B").cast("q").tolist())
    for place, row in enumerate(rows):
        row[:] = numbers[place * sizes[-1] : (place + 1) * sizes[-1]]

'''
UNPAIRED = '''

def unpaired(values, flags):
    """The numbers of pairs: the value, and whether it is a float."""
    return [value if flag else int(value) for value, flag in zip(values[::2], flags[1::2])]

'''
HAND_OVER_MIXED = '''

def mixed_numbers_of(handed):
    """What a kernel made, as nested lists of integers and floats."""
    sizes, count = list(handed[3:]), 2
    for size in sizes:
        count *= size
    values = (ctypes.c_double * count).from_address(handed[2])[:] if count else []
    flags = (ctypes.c_int64 * count).from_address(handed[2])[:] if count else []
    function_release(handed[1])
    return nested(unpaired(values, flags), sizes)

'''
