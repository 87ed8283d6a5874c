"""C++ of ``round(x, digits)`` and ``math.hypot``, to the last digit, for kernels and typed programs."""

ROUND_TO = """\
// Python's round(a, n), for factor = 10**n: the double next to the decimal number with n digits that is next to a,
// ties to even. The rest of the product, which is what it was rounded by, tells which side of a tie a is on.
static inline double round_to(double a, double factor) {
  const double product = a * factor, size = __builtin_fabs(product);
  if (!(size < 9007199254740992.0)) return a;
  const double rest = __builtin_fma(a, factor, -product), whole = __builtin_trunc(product);
  double found = __builtin_nearbyint(product);
  if (rest != 0 && size >= 4503599627370496.0) {
    if (__builtin_fabs(rest) == 0.5 && __builtin_fmod(product, 2.0) != 0) found += 2 * rest;
  } else if (rest != 0 && __builtin_fabs(product - whole) == 0.5) {
    found = (rest > 0) == (product > 0) ? whole + __builtin_copysign(1.0, product) : whole;
  }
  return found / factor;
}
"""

LENGTH_OF = """\
// math.hypot as Python computes it since 3.10: squares and root with twice the digits of a double (Borges 2019,
// after Dekker 1971), which the C library's hypot does not have.
static inline void add_to(double x, double& sum, double& lost) {
  const double before = sum;
  sum += x;
  lost += (before - sum) + x;
}
template <class... Rest> static inline double length_of(double first, Rest... rest) {
  const double given[] = {__builtin_fabs(first), __builtin_fabs(rest)...};
  double most = 0, unknown = 0;
  for (double x : given) {
    if (x > most) most = x;
    if (x != x) unknown = x;
  }
  if (__builtin_isinf(most)) return most;
  if (unknown != unknown) return unknown;
  if (most == 0 || !sizeof...(rest)) return most;
  int exponent;
  __builtin_frexp(most, &exponent);
  if (exponent < -1023) return 0x1p-1022 * length_of(first / 0x1p-1022, (rest / 0x1p-1022)...);
  const double scale = __builtin_ldexp(1.0, -exponent), split = 134217729.0;
  double sum = 1, lost = 0, less = 0, least = 0;
  for (double x : given) {
    x *= scale;
    const double t = x * split, high = t - (t - x), low = x - high;
    add_to(high * high, sum, lost);
    add_to(2.0 * high * low, sum, less);
    least += low * low;
  }
  const double root = __builtin_sqrt(sum - 1.0 + (lost + less + least));
  const double t = root * split, high = t - (t - root), low = root - high;
  add_to(-high * high, sum, lost);
  add_to(-2.0 * high * low, sum, less);
  add_to(-low * low, sum, least);
  return (root + (sum - 1.0 + (lost + less + least)) / (2.0 * root)) / scale;
}
"""
