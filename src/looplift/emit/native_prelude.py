"""The C++ that generated kernels lean on: a few lines each, put in front of a kernel only where it uses them."""

from __future__ import annotations

import re

from looplift.emit.native_doubts import DOUBTS
from looplift.emit.native_mixed import MIXES
from looplift.emit.native_prelude_arrays import ARRAYS
from looplift.emit.native_prelude_functions import called_in, declarations, definitions
from looplift.emit.native_prelude_host import HOST
from looplift.emit.native_prelude_selection import SELECTION
from looplift.emit.rounding_text import LENGTH_OF, ROUND_TO
from looplift.ir.kernel import OUTCOMES

_HEADER = "#include <stddef.h>\n#include <stdint.h>\n"

_MATH = """\
// The C library's functions, for both precisions; the whole of <cmath> takes longer to read than a kernel to compile.
namespace math {{
{functions}
}}
"""

_ONE = """\
static inline double {name}(double a) {{ return __builtin_{name}({a}); }}
static inline float {name}(float a) {{ return __builtin_{name}f({a}); }}"""
_TWO = """\
static inline double {name}(double a, double b) {{ return __builtin_{name}({a}, {b}); }}
static inline float {name}(float a, float b) {{ return __builtin_{name}f({a}, {b}); }}"""
_LIBRARY = """\
// What the compiler knows is hidden from it: it would round the result of a constant in another way than the library,
// or of several numbers at a time.
template <class T> static inline T hidden(T a) {{
#ifdef SEVERAL
  asm("" : "+x"(a));
  return a;
#else
  if (!__builtin_constant_p(a)) return a;
  T held = a;
  asm("" : "+m"(held));
  return held;
#endif
}}"""
_TEST = """\
template <class T> static inline bool {name}(T a) {{ return __builtin_{name}(a); }}"""

_BINARY = ("pow", "atan2", "hypot", "fmod", "copysign")
_TESTS = ("isnan", "isinf", "isfinite", "signbit")
_EXACT = ("sqrt", "fabs", "floor", "ceil", "trunc", "nearbyint", "fmod", "copysign", *_TESTS)
"""Functions whose result is rounded in no way or in one alone."""

_VIEW = """\
// A strided view as PyTorch and NumPy have it: sizes, and steps counted in elements.
template <class T, int rank> struct View {
  T* data;
  int64_t size[rank], step[rank];
  template <class... Index> T& operator()(Index... index) const {
    int64_t place = 0;
    int axis = 0;
    ((place += index * step[axis++]), ...);
    return data[place];
  }
};
"""

_NUMPY = """\
// The fields of an array of NumPy, in the order of its C API.
struct NumPyArray {
  int64_t references;
  void* type;
  char* data;
  int rank;
  const int64_t *size, *step;
  void *base, *dtype;
  int flags;
};

template <class T> struct Writes { static constexpr int flag = 0x400; };
template <class T> struct Writes<const T> { static constexpr int flag = 0; };

// Whether elements are aligned, may be written where a kernel does so, and are whole steps apart.
template <class T> static inline bool suits(const NumPyArray* array, int rank) {
  const int wanted = 0x100 | Writes<T>::flag;
  if (array->rank != rank || (array->flags & wanted) != wanted) return false;
  for (int axis = 0; axis < rank; ++axis)
    if (array->step[axis] % int64_t(sizeof(T))) return false;
  return true;
}
"""

_VIEW_OF_ARRAY = """\
template <class T, int rank> static inline View<T, rank> view_of(const NumPyArray* array) {
  View<T, rank> view;
  view.data = (T*)array->data;
  for (int axis = 0; axis < rank; ++axis)
    view.size[axis] = array->size[axis], view.step[axis] = array->step[axis] / int64_t(sizeof(T));
  return view;
}
"""

_ROW = """\
// The view that is left of one when its first axis is indexed.
template <class T, int rank> static inline View<T, rank - 1> row(const View<T, rank>& whole, int64_t index) {
  View<T, rank - 1> part;
  part.data = whole.data + index * whole.step[0];
  for (int axis = 1; axis < rank; ++axis) {
    part.size[axis - 1] = whole.size[axis];
    part.step[axis - 1] = whole.step[axis];
  }
  return part;
}
"""

_ELEMENT = """\
// A 0-dim tensor: a number of its own, or an element of another tensor, whose later changes it shows.
template <class T> struct Element {
  T own;
  const T* place;
  Element(T value) : own(value), place(nullptr) {}
  Element(const T* element) : own(), place(element) {}
  operator T() const { return place ? *place : own; }
};
"""

_BITS = """\
static inline uint32_t bits_of(float value) { uint32_t bits; __builtin_memcpy(&bits, &value, 4); return bits; }
static inline float float_of(uint32_t bits) { float value; __builtin_memcpy(&value, &bits, 4); return value; }
"""

_HALF = """\
// IEEE half precision: arithmetic is in float, and each result is rounded back (after Maratyszcza's FP16).
struct half {
  uint16_t bits;
  half() = default;
  half(float value) {
    float base = math::fabs(value) * 0x1.0p+112f * 0x1.0p-110f;
    const uint32_t word = bits_of(value), twice = word + word;
    uint32_t bias = twice & 0xFF000000u;
    if (bias < 0x71000000u) bias = 0x71000000u;
    base += float_of((bias >> 1) + 0x07800000u);
    const uint32_t rounded = ((bits_of(base) >> 13) & 0x7C00u) + (bits_of(base) & 0x0FFFu);
    bits = uint16_t(((word >> 16) & 0x8000u) | (twice > 0xFF000000u ? 0x7E00u : rounded));
  }
  operator float() const {
    const uint32_t word = uint32_t(bits) << 16, twice = word + word;
    const float normal = float_of((twice >> 4) + (0xE0u << 23)) * 0x1.0p-112f;
    const float tiny = float_of((twice >> 17) | (126u << 23)) - 0.5f;
    return float_of((word & 0x80000000u) | bits_of(twice < (1u << 27) ? tiny : normal));
  }
};
"""

_BFLOAT16 = """\
// bfloat16: arithmetic is in float, and each result is rounded back to the nearest, ties to even.
struct bfloat16 {
  uint16_t bits;
  bfloat16() = default;
  bfloat16(float value) {
    const uint32_t word = bits_of(value);
    bits = uint16_t(value != value ? 0x7FC0u : (word + ((word >> 16) & 1u) + 0x7FFFu) >> 16);
  }
  operator float() const { return float_of(uint32_t(bits) << 16); }
};
"""

_TAPE = """\
// What the forward pass leaves for the backward pass, read in reverse order; every entry is a number of 8 bytes.
struct Tape {
  union Word { double number; int64_t integer; }* words;
  int64_t length, capacity;
  bool reserve(int64_t count) {
    if (length + count <= capacity) return true;
    const int64_t larger = 2 * capacity + count + 512;
    Word* moved = (Word*)__builtin_realloc((void*)words, sizeof(Word) * size_t(larger));
    if (!moved) return false;
    words = moved;
    capacity = larger;
    return true;
  }
  void push(double number) { words[length++].number = number; }
  void push_integer(int64_t integer) { words[length++].integer = integer; }
  double pop() { return words[--length].number; }
  int64_t pop_integer() { return words[--length].integer; }
};
"""

_RECORDER = """\
// The tape while it is written, in registers.
struct Recorder : Tape {
  Tape* target;
  explicit Recorder(Tape* tape) : Tape(*tape), target(tape) {}
  ~Recorder() { *target = *this; }
};
"""

_GRADIENT = """\
// A gradient that may not be there at all.
struct Gradient {
  double value = 0;
  bool there = false;
  void add(double more) { value += more; there = true; }
};
"""

_HOLDS = """\
// Whether an address lies between the first and the last element of a view.
template <class T, int rank> static inline bool holds(const View<T, rank>& view, const void* address) {
  const char *first = (const char*)view.data, *last = first;
  for (int axis = 0; axis < rank; ++axis) {
    if (view.size[axis] == 0) return false;
    const int64_t reach = (view.size[axis] - 1) * view.step[axis] * int64_t(sizeof(T));
    (reach < 0 ? first : last) += reach;
  }
  return first <= (const char*)address && (const char*)address < last + sizeof(T);
}
"""

_OVERLAP = """\
// Whether the memory from the first to the last element of a view has some of another's in it.
template <class T, int rank, class U, int other>
static inline bool overlap(const View<T, rank>& one, const View<U, other>& two) {
  const char *low[2] = {(const char*)one.data, (const char*)two.data}, *high[2] = {low[0], low[1]};
  for (int axis = 0; axis < rank; ++axis) {
    if (one.size[axis] == 0) return false;
    const int64_t reach = (one.size[axis] - 1) * one.step[axis] * int64_t(sizeof(T));
    (reach < 0 ? low : high)[0] += reach;
  }
  for (int axis = 0; axis < other; ++axis) {
    if (two.size[axis] == 0) return false;
    const int64_t reach = (two.size[axis] - 1) * two.step[axis] * int64_t(sizeof(U));
    (reach < 0 ? low : high)[1] += reach;
  }
  return low[0] < high[1] + sizeof(U) && low[1] < high[0] + sizeof(T);
}
"""

_MEETS_ITSELF = """\
// Whether two elements of a view may be in one place: taken from the shortest step on, one is within what came before.
template <class T, int rank> static inline bool meets_itself(const View<T, rank>& view) {
  int64_t steps[rank], sizes[rank];
  int known = 0;
  for (int axis = 0; axis < rank; ++axis) {
    if (view.size[axis] == 0) return false;
    if (view.size[axis] == 1) continue;
    const int64_t step = view.step[axis] < 0 ? -view.step[axis] : view.step[axis];
    int k = known++;
    for (; k > 0 && steps[k - 1] > step; --k) { steps[k] = steps[k - 1]; sizes[k] = sizes[k - 1]; }
    steps[k] = step; sizes[k] = view.size[axis];
  }
  int64_t reach = 1;
  for (int k = 0; k < known; ++k) {
    if (steps[k] < reach) return true;
    reach += steps[k] * (sizes[k] - 1);
  }
  return false;
}
"""

PIECES: dict[str, str] = {
    "View": _VIEW,
    "NumPyArray": _NUMPY,
    "view_of": _VIEW_OF_ARRAY,
    "row": _ROW,
    **ARRAYS,
    **SELECTION,
    **{name: MIXES[name] for name in ("Number", "absolute")},
    "holds": _HOLDS,
    "overlap": _OVERLAP,
    "meets_itself": _MEETS_ITSELF,
    "bits_of": _BITS,
    "half": _HALF,
    "bfloat16": _BFLOAT16,
    "Element": _ELEMENT,
    "Tape": _TAPE,
    "Recorder": _RECORDER,
    "Gradient": _GRADIENT,
    **HOST,
    "truncated": """\
// A float as an integer. GCC 12 takes the way there and back for one step, on which a zero would keep its sign.
template <class T, class From> static inline T truncated(From value) {
  T whole = T(value);
  asm("" : "+r"(whole));
  return whole;
}
""",
    "integer_of": """\
// A float as an integer; the least one for what does not fit, as the processor has it.
#if defined(__x86_64__) && defined(__SSE2__)
static inline int64_t integer_of(double value) {
  typedef double Pair __attribute__((vector_size(16)));
  return __builtin_ia32_cvttsd2si64(Pair{value, 0});
}
#else
static inline int64_t integer_of(double value) {
  return value >= -9223372036854775808.0 && value < 9223372036854775808.0 ? int64_t(value) : INT64_MIN;
}
#endif
""",
    "moved_on": """\
// A number in a register of its own.
template <class T> static inline T moved_on(T value) {
#if defined(__SSE2__) && !defined(__clang__)
  asm("" : "+x"(value));
#endif
  return value;
}
""",
    "outside": """\
static inline bool outside(int64_t index, int64_t size) { return uint64_t(index) >= uint64_t(size); }
""",
    "from_end": """\
// A negative index counts from the end.
static inline int64_t from_end(int64_t index, int64_t size) { return index < 0 ? index + size : index; }
""",
    "smaller": """\
// Python's min: the second only where it compares less.
template <class T> static inline T smaller(T first, T second) { return second < first ? second : first; }
""",
    "larger": """\
// Python's max: the second only where it compares greater.
template <class T> static inline T larger(T first, T second) { return second > first ? second : first; }
""",
    "minimum": """\
// torch.minimum: a NaN wins.
template <class T> static inline T minimum(T a, T b) { return a != a ? a : b != b ? b : b < a ? b : a; }
""",
    "maximum": """\
// torch.maximum: a NaN wins.
template <class T> static inline T maximum(T a, T b) { return a != a ? a : b != b ? b : a < b ? b : a; }
""",
    "left_shift": """\
// By as many bits as the type has, or more, nothing is left; negative numbers of bits are large ones.
template <class T> static inline T left_shift(T value, T bits) {
  return uint64_t(bits) < sizeof(T) * 8 ? T(uint64_t(value) << bits) : T(0);
}
""",
    "right_shift": """\
template <class T> static inline T right_shift(T value, T bits) {
  return uint64_t(bits) < sizeof(T) * 8 ? T(value >> bits) : T(value < 0 ? -1 : 0);
}
""",
    "floor_divide": """\
// The quotient rounded down, as Python and PyTorch define it for floats; the divisor is not zero for Python's.
template <class T> static inline T floor_divide(T a, T b) {
  if (b == 0) return a / b;
  const T rest = math::fmod(a, b);
  T quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return math::copysign(T(0), a / b);
  const T down = math::floor(quotient);
  return quotient - down > T(0.5) ? down + 1 : down;
}
""",
    "remainder_of": """\
// torch.remainder: the sign of the divisor.
template <class T> static inline T remainder_of(T a, T b) {
  const T rest = math::fmod(a, b);
  return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}
""",
    "round_to": ROUND_TO,
    "length_of": LENGTH_OF,
    "python_remainder": """\
// Python's a % b of floats: the sign of the divisor, also of a zero.
template <class T> static inline T python_remainder(T a, T b) {
  const T rest = math::fmod(a, b);
  if (rest == 0) return math::copysign(T(0), b);
  return (b < 0) != (rest < 0) ? rest + b : rest;
}
""",
    "integer_floor_divide": """\
// a // b of integers, rounded down; b is not zero.
template <class T> static inline T integer_floor_divide(T a, T b) {
  if (__builtin_constant_p(b) && b > 0 && (b & (b - 1)) == 0) return T(a >> __builtin_ctzll(uint64_t(b)));
  if (T(~b) == 0 && T(-1) < 0) return T(0 - a);
  const T quotient = T(a / b);
  return a % b != 0 && (a < 0) != (b < 0) ? T(quotient - 1) : quotient;
}
""",
    "integer_remainder": """\
// a % b of integers, with the sign of b, which is not zero. What is a step beyond an end needs no division.
template <class T> static inline T integer_remainder(T a, T b) {
  if (__builtin_constant_p(b)) {
    if (b > 0 && (b & (b - 1)) == 0) return T(a & (b - 1));
  } else if (b > 0) {
    if (a >= 0 && a < b) return a;
    const T near = T(a < 0 ? a + b : a - b);
    if (near >= 0 && near < b) return near;
  }
  if (T(~b) == 0 && T(-1) < 0) return 0;
  const T rest = T(a % b);
  return rest != 0 && (rest < 0) != (b < 0) ? T(rest + b) : rest;
}
""",
    "integer_fmod": """\
// The remainder of integers with the sign of a; b is not zero.
template <class T> static inline T integer_fmod(T a, T b) { return T(~b) == 0 && T(-1) < 0 ? T(0) : T(a % b); }
""",
    "checked_power": """\
// a ** b of Python integers with b >= 0; false when 64 bits do not hold it.
static inline bool checked_power(int64_t a, int64_t b, int64_t* result) {
  *result = 1;
  while (b > 0) {
    if ((b & 1) && __builtin_mul_overflow(*result, a, result)) return false;
    b >>= 1;
    if (b > 0 && __builtin_mul_overflow(a, a, &a)) return false;
  }
  return true;
}
""",
    "wrapping_power": """\
// a ** b of integer tensors with b >= 0; wraps around.
template <class T> static inline T wrapping_power(T a, int64_t b) {
  uint64_t result = 1, factor = uint64_t(a);
  for (; b > 0; b >>= 1, factor *= factor)
    if (b & 1) result *= factor;
  return T(result);
}
""",
    "power": """\
// tensor ** number as PyTorch computes it: some exponents have a form of their own, others stay in double precision.
template <class T> static inline T power(T a, double b) {
  if (b == 2) return a * a;
  if (b == 3) return a * a * a;
  if (b == 0.5) return math::sqrt(a);
  if (b == -0.5) return 1 / math::sqrt(a);
  if (b == -1) return 1 / a;
  if (b == -2) return 1 / (a * a);
  return T(math::pow(double(a), b));
}
""",
    "surprising": """\
// A result that is not finite although the operands are, or not a number although they are: Python raises, NumPy warns.
template <class... T> static inline bool surprising(double result, T... operands) {
  if (math::isfinite(result)) return false;
  return math::isnan(result) ? !(math::isnan(double(operands)) || ...) : (math::isfinite(double(operands)) && ...);
}
""",
    "sign_of": """\
template <class T> static inline T sign_of(T a) { return T((T(0) < a) - (a < T(0))); }
""",
    "inexact": """\
// Beyond 2^53 not every integer is a double.
static inline bool inexact(int64_t a) { return a > (INT64_C(1) << 53) || a < -(INT64_C(1) << 53); }
""",
    "range_length": """\
// len(range(first, limit, step)), as far as 64 bits go: nobody counts so far.
static inline int64_t range_length(int64_t first, int64_t limit, int64_t step) {
  if (step > 0 ? first >= limit : first <= limit) return 0;
  const uint64_t reach = step > 0 ? uint64_t(limit) - uint64_t(first) : uint64_t(first) - uint64_t(limit);
  const uint64_t steps = (reach - 1) / (step > 0 ? uint64_t(step) : 0 - uint64_t(step));
  return steps < uint64_t(INT64_MAX) ? int64_t(steps) + 1 : INT64_MAX;
}
""",
    **DOUBTS,
    **{name: text for name, text in MIXES.items() if name not in ("Number", "absolute")},
}


def prelude(body: str) -> str:
    """The includes, outcomes and helper functions that a kernel's text needs, in their order."""
    needed: set[str] = set()
    _collect(body, needed)
    pieces = [text for name, text in PIECES.items() if name in needed]
    outcomes = ", ".join(_used_outcomes("\n".join([*pieces, body])))
    several = called_in("\n".join([*pieces, body]))
    functions = [*declarations(several), *_math("\n".join([*pieces, body])), *definitions(several)]
    return "\n".join([_HEADER, *functions, f"enum Outcome : int {{ {outcomes} }};\n", *pieces])


def _math(text: str) -> list[str]:
    """The mathematical functions that a text calls."""
    names = sorted(set(re.findall(r"\bmath::(\w+)", text)))
    forms = [_TWO if name in _BINARY else _TEST if name in _TESTS else _ONE for name in names]
    operands = [("a", "b") if name in _EXACT else ("hidden(a)", "hidden(b)") for name in names]
    lines = [form.format(name=name, a=a, b=b) for form, name, (a, b) in zip(forms, names, operands)]
    functions = "\n".join([*([] if set(names) <= set(_EXACT) else [_LIBRARY.format()]), *lines])
    return [_MATH.format(functions=functions)] if names else []


def _collect(text: str, needed: set[str]) -> None:
    for name in set(re.findall(r"\w+", text)) & PIECES.keys() - needed:
        needed.add(name)
        _collect(PIECES[name], needed)


def _used_outcomes(text: str) -> list[str]:
    return [f"{name} = {number}" for number, name in enumerate(OUTCOMES) if name == "done" or f" {name};" in text]
