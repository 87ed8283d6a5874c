"""C++ of functions that are computed for several numbers at a time where a loop allows it, with another last digit.

GNU's C library has them for vectors of numbers (``libmvec``; errors below four units in the last place), the compiler
calls these in loops where a function is declared so. Elsewhere they are the library's for one number, but for ``exp``.
"""

from __future__ import annotations

import re

_CALLED = re.compile(r"\bsimd::(\w+)")

_DECLARED = """\
// Functions that the C library has for several numbers at a time, too.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define SEVERAL __attribute__((simd("notinbranch")))
extern "C" {{
{functions}
}}
#endif
#endif
"""
_BOTH = "  SEVERAL double {name}(double) noexcept;\n  SEVERAL float {name}f(float) noexcept;"

_SIMD = """\
namespace simd {{
{functions}
}}
"""
_ONE = """\
static inline double {name}(double a) {{ return __builtin_{name}(a); }}
static inline float {name}(float a) {{ return __builtin_{name}f(a); }}"""
_EXP = """\
#ifdef SEVERAL
static inline double exp(double a) { return __builtin_exp(a); }
static inline float exp(float a) { return __builtin_expf(a); }
#else
// exp(a) with an error below one unit in the last place: a = n * log(2) + r, and a polynomial of r.
static inline double exp(double a) {
  double c = a < -746.0 ? -746.0 : a;
  c = c > 710.0 ? 710.0 : c;
  double n = c * 1.4426950408889634 + 0x1.8p52;
  int64_t k;
  __builtin_memcpy(&k, &n, 8);
  k = int64_t(uint64_t(k) << 32) >> 32;
  n -= 0x1.8p52;
  const double r = (c - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33, r2 = r * r, r4 = r2 * r2;
  const double low = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
  const double middle = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
  const double high = (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600 + r * (1.0 / 6227020800.0));
  const int64_t half = k >> 1, one = (half + 1023) << 52, other = (k - half + 1023) << 52;
  double first, second;
  __builtin_memcpy(&first, &one, 8);
  __builtin_memcpy(&second, &other, 8);
  return (1.0 + (r + r2 * (low + r4 * (middle + r4 * high)))) * first * second;
}
static inline float exp(float a) { return float(exp(double(a))); }
#endif"""
"""The reduction and its constants are those of the tables in W. J. Cody and W. Waite, Software Manual for the
Elementary Functions, 1980; the polynomial is the series."""


def called_in(text: str) -> list[str]:
    """The functions of ``simd`` that a text calls."""
    return sorted(set(_CALLED.findall(text)))


def declarations(names: list[str]) -> list[str]:
    """What stands in front of all namespaces."""
    return [_DECLARED.format(functions="\n".join(_BOTH.format(name=name) for name in names))] if names else []


def definitions(names: list[str]) -> list[str]:
    """The namespace ``simd``."""
    lines = [_EXP if name == "exp" else _ONE.format(name=name) for name in names]
    return [_SIMD.format(functions="\n".join(lines))] if names else []
