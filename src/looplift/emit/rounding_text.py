"""C++ of ``round(x, digits)``, for kernels and typed programs."""

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
