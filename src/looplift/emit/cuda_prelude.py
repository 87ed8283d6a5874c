"""The C++ that kernels on CUDA devices lean on: as on the CPU, but for what its compiler does not know there.

NVRTC has the mathematical functions of CUDA and no header, knows none of GCC's builtin functions, and takes it that
signed integers do not overflow.
"""

from __future__ import annotations

import re

from looplift.emit.native_prelude import PIECES
from looplift.emit.rounding_text import LENGTH_OF, ROUND_TO
from looplift.ir.kernel import OUTCOMES

_TYPES = """\
#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT64_C(value) value##ll
#define INT64_MAX INT64_C(0x7fffffffffffffff)
#define INT64_MIN (-INT64_MAX - 1)
#else
#include <stdint.h>
#endif
"""

_MATH = {
    "isnan": "template <class T> static inline bool isnan(T a) { return a != a; }",
    "isfinite": "template <class T> static inline bool isfinite(T a) { return a - a == 0; }",
    "isinf": "template <class T> static inline bool isinf(T a) { return a == a && a - a != 0; }",
    "signbit": "template <class T> static inline bool signbit(T a) { return ::copysign(1.0, double(a)) < 0; }",
}
_ONE = """\
static inline double {name}(double a) {{ return ::{name}(a); }}
static inline float {name}(float a) {{ return ::{name}f(a); }}"""
_TWO = """\
static inline double {name}(double a, double b) {{ return ::{name}(a, b); }}
static inline float {name}(float a, float b) {{ return ::{name}f(a, b); }}"""
_BINARY = ("pow", "atan2", "hypot", "fmod", "copysign")

_AS_ON_THE_CPU = (
    "View", "row", "row_at", "reversed", "transposed", "holds", "overlap", "half", "bfloat16", "Element", "is_alone",
    "outside", "from_end", "smaller", "larger", "minimum", "maximum", "left_shift", "right_shift", "floor_divide",
    "remainder_of", "python_remainder", "integer_fmod", "wrapping_power", "power", "surprising", "sign_of",
    "inexact", "range_length",
)  # fmt: skip

_OTHERWISE = {
    "round_to": ROUND_TO.replace("__builtin_", "::"),
    "length_of": LENGTH_OF.replace("__builtin_", "::"),
    "bits_of": """\
union Bits { float value; uint32_t bits; };
static inline uint32_t bits_of(float value) { Bits held; held.value = value; return held.bits; }
static inline float float_of(uint32_t bits) { Bits held; held.bits = bits; return held.value; }
""",
    "infinity": """\
static inline double infinity() {
  union { uint64_t bits; double value; } held;
  held.bits = 0x7ff0000000000000u;
  return held.value;
}
static inline double not_a_number() {
  union { uint64_t bits; double value; } held;
  held.bits = 0x7ff8000000000000u;
  return held.value;
}
""",
    "stopped": """\
// Whether something went wrong in another thread, after which no thread goes on; asked now and then.
static inline bool stopped(const int64_t* state, int64_t& patience) {
  patience = 1000;
  return *(const volatile int64_t*)state != INT64_MAX;
}
""",
    "truncated": """\
// A float as an integer, which holds it.
template <class T, class From> static inline T truncated(From value) { return T(value); }
""",
    "integer_of": """\
// A float as an integer; the least one for what does not fit.
static inline int64_t integer_of(double value) {
  return value >= -9223372036854775808.0 && value < 9223372036854775808.0 ? int64_t(value) : INT64_MIN;
}
""",
    "integer_floor_divide": """\
// a // b of integers, rounded down; b is not zero.
template <class T> static inline T integer_floor_divide(T a, T b) {
  if (T(~b) == 0 && T(-1) < 0) return T(0 - uint64_t(a));
  const T quotient = T(a / b);
  return a % b != 0 && (a < 0) != (b < 0) ? T(quotient - 1) : quotient;
}
""",
    "integer_remainder": """\
// a % b of integers, with the sign of b, which is not zero.
template <class T> static inline T integer_remainder(T a, T b) {
  if (T(~b) == 0 && T(-1) < 0) return 0;
  const T rest = T(a % b);
  return rest != 0 && (rest < 0) != (b < 0) ? T(rest + b) : rest;
}
""",
    "add_overflows": """\
// a + b; whether 64 bits do not hold it.
static inline bool add_overflows(int64_t a, int64_t b, int64_t* result) {
  *result = int64_t(uint64_t(a) + uint64_t(b));
  return ((a ^ *result) & (b ^ *result)) < 0;
}
""",
    "sub_overflows": """\
// a - b; whether 64 bits do not hold it.
static inline bool sub_overflows(int64_t a, int64_t b, int64_t* result) {
  *result = int64_t(uint64_t(a) - uint64_t(b));
  return ((a ^ b) & (a ^ *result)) < 0;
}
""",
    "mul_overflows": """\
// a * b; whether 64 bits do not hold it.
static inline bool mul_overflows(int64_t a, int64_t b, int64_t* result) {
  *result = int64_t(uint64_t(a) * uint64_t(b));
  if (a == int32_t(a) && b == int32_t(b)) return false;
  if (a == -1 || b == -1) return (a == -1 ? b : a) == INT64_MIN;
  return b != 0 && *result / b != a;
}
""",
    "checked_power": """\
// a ** b of Python integers with b >= 0; false when 64 bits do not hold it.
static inline bool checked_power(int64_t a, int64_t b, int64_t* result) {
  *result = 1;
  while (b > 0) {
    if ((b & 1) && mul_overflows(*result, a, result)) return false;
    b >>= 1;
    if (b > 0 && mul_overflows(a, a, &a)) return false;
  }
  return true;
}
""",
}

_FIRST = ("bits_of", "infinity", "stopped", "add_overflows", "sub_overflows", "mul_overflows")
_PIECES = {
    **{name: _OTHERWISE[name] for name in _FIRST},
    **{name: _OTHERWISE.get(name, text) for name, text in PIECES.items() if name in {*_AS_ON_THE_CPU, *_OTHERWISE}},
}

_BUILTINS = {
    r"__builtin_(add|sub|mul)_overflow\(": r"\1_overflows(",
    r"\bsimd::": "math::",
    r"__builtin_inf\(\)": "infinity()",
    r"__builtin_inff\(\)": "float(infinity())",
    r'__builtin_nan\(""\)': "not_a_number()",
    r'__builtin_nanf\(""\)': "float(not_a_number())",
}

FUNCTIONS = frozenset(_PIECES)
"""What the loops of such a kernel may call besides the mathematical functions."""


def without_builtins(text: str) -> str:
    """The text with functions of the prelude in the place of GCC's own."""
    for pattern, name in _BUILTINS.items():
        text = re.sub(pattern, name, text)
    return text


def is_known(text: str) -> bool:
    """Whether a kernel's text needs nothing but what is here."""
    words = set(re.findall(r"\w+", text))
    return not words & (PIECES.keys() - _PIECES.keys()) and not any(word.startswith("__builtin_") for word in words)


def prelude(body: str) -> str:
    """The types, outcomes and helper functions that a kernel's text needs, in their order."""
    needed: set[str] = set()
    _collect(body, needed)
    pieces = [text for name, text in _PIECES.items() if name in needed]
    text = "\n".join([*pieces, body])
    words = {"done", *re.findall(r"\w+", re.sub("//.*", "", text))}
    outcomes = [f"{name} = {number}" for number, name in enumerate(OUTCOMES) if name in words]
    return "\n".join([_TYPES, *_math(text), f"enum Outcome : int {{ {', '.join(outcomes)} }};\n", *pieces])


def _collect(text: str, needed: set[str]) -> None:
    words = {"infinity" if word == "not_a_number" else word for word in re.findall(r"\w+", text)}
    for name in words & _PIECES.keys() - needed:
        needed.add(name)
        _collect(_PIECES[name], needed)


def _math(text: str) -> list[str]:
    """CUDA's mathematical functions that a text calls, for both precisions."""
    names = sorted(set(re.findall(r"\bmath::(\w+)", text)))
    lines = [_MATH.get(name) or (_TWO if name in _BINARY else _ONE).format(name=name) for name in names]
    return ["namespace math {", *lines, "}\n"] if lines else []
