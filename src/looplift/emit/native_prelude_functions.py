"""C++ of functions that are computed for several numbers at a time, where the C library's are called for one."""

FUNCTIONS = {
    "power_of_e": """\
// exp(a) with an error below one unit in the last place: a = n * log(2) + r, and a polynomial of r.
static inline double power_of_e(double a) {
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
static inline float power_of_e(float a) { return float(power_of_e(double(a))); }
""",
}
"""Each by its name. The reduction of ``exp`` and its constants are those of the tables in W. J. Cody and W. Waite,
Software Manual for the Elementary Functions, 1980; the polynomial is the series."""
