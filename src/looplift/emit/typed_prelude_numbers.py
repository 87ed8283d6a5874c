"""C++ of typed programs: the state of a call, references, text, and numbers as Python computes them."""

from looplift.emit.rounding_text import LENGTH_OF, ROUND_TO

_MIXED = """static Dyn {0}(Dyn a, Dyn b) {{
  if (a.np || b.np) bail(KIND);
  return a.tag == 2 || b.tag == 2 ? Dyn({0}(a.real(), b.real())) : Dyn({0}(a.i, b.i));
}}
"""

NUMBERS = (
    r"""#include <stdint.h>
#include <string.h>
#include <setjmp.h>
// The C library's functions; the whole of <math.h> takes longer to read than a program to compile.
extern "C" {
  void *malloc(size_t), *calloc(size_t, size_t), *realloc(void*, size_t), free(void*);
  double sqrt(double), fabs(double), floor(double), ceil(double), nearbyint(double), exp(double), log(double),
      log2(double), log10(double), log1p(double), expm1(double), sin(double), cos(double), tan(double), asin(double),
      acos(double), atan(double), sinh(double), cosh(double), tanh(double), asinh(double), acosh(double), atanh(double),
      exp2(double), cbrt(double), erf(double), erfc(double), fmod(double, double), pow(double, double),
      atan2(double, double), copysign(double, double), strtod(const char*, char**);
  long double sqrtl(long double);
}
template <class T> static inline bool isnan(T a) { return __builtin_isnan(a); }
template <class T> static inline bool isinf(T a) { return __builtin_isinf(a); }
template <class T> static inline bool isfinite(T a) { return __builtin_isfinite(a); }
template <class T> static inline bool signbit(T a) { return __builtin_signbit(a); }
typedef int64_t I;
typedef double F;
typedef uint64_t U;
inline void* operator new(size_t, void* place) noexcept { return place; }

// ---- the state of one call; everything is allocated in its arena, which is freed as a whole
struct Chunk { Chunk* next; I size; };
struct State {
  jmp_buf leave;
  int why;
  Chunk* chunks;
  char *at, *end, *stack;
  void* spare[48];
  I total, depth, limit, ticks, long_rows;
};
static State* state;
enum Why { DONE, RANGE, OVERFLOW, ZERO, DOMAIN, KEY, EMPTY, KIND, UNBOUND, CHANGED, MEMORY, DEEP, RAISED,
    INTERRUPTED };
[[noreturn]] static __attribute__((noinline, cold)) void bail(Why why) { state->why = why; longjmp(state->leave, 1); }
static inline int class_of(size_t n) { return n <= 16 ? 4 : 64 - __builtin_clzll(n - 1); }
// What calls before had, of this program and others, to the next one: memory that the system gives anew is made zero
// page by page.
static const I KEPT = 32 << 20;
struct Kept { Chunk* first; I total; };
static Kept own_kept, *kept = &own_kept;
extern "C" void share_kept(Kept* of_all) { kept = of_all; }
static Chunk* kept_chunk(I room) {
  for (Chunk** at = &kept->first; *at; at = &(*at)->next) {
    Chunk* found = *at;
    if (found->size < room || found->size > 2 * room) continue;
    *at = found->next; kept->total -= found->size; return found;
  }
  return nullptr;
}
static void give_back(Chunk* chunk) {
  if (kept->total + chunk->size > KEPT) { free(chunk); return; }
  chunk->next = kept->first; kept->first = chunk; kept->total += chunk->size;
}
static __attribute__((noinline)) void* fresh(int k) {
  size_t n = (size_t)1 << k;
  if (state->at + n > state->end) {
    size_t room = n > (1 << 16) ? n : (size_t)1 << 16;
    if (state->total + (I)room > ((I)2 << 30)) bail(MEMORY);
    if (state->total > (I)room * 4) room = (room > (1 << 20)) ? room : 1 << 20;
    Chunk* chunk = kept_chunk(room);
    if (!chunk) {
      chunk = (Chunk*)malloc(room + sizeof(Chunk));
      if (!chunk) bail(MEMORY);
      chunk->size = room;
    }
    state->total += chunk->size;
    chunk->next = state->chunks; state->chunks = chunk;
    state->at = (char*)(chunk + 1); state->end = state->at + chunk->size;
  }
  void* found = state->at; state->at += n; return found;
}
static inline void* take(size_t n) {
  int k = class_of(n);
  void* found = state->spare[k];
  if (found) { state->spare[k] = *(void**)found; return found; }
  return fresh(k);
}
static inline void give(void* memory, size_t n) { int k = class_of(n); *(void**)memory = state->spare[k];
    state->spare[k] = memory; }
extern "C" int PyErr_CheckSignals();
extern "C" void* PyEval_SaveThread();
extern "C" void PyEval_RestoreThread(void*);
static __attribute__((noinline, cold)) void rest() { PyEval_RestoreThread(PyEval_SaveThread());
    if (PyErr_CheckSignals()) bail(INTERRUPTED); }
// The iterations of one call of a function: Ctrl-C is looked for once in a million, those of its calls among them.
struct Ticks {
  static const I OFTEN = 1 << 20;
  I n = 0;
  void operator()() { if (__builtin_expect((++n & (OFTEN - 1)) == 0, 0)) rest(); }
  // so many iterations at once, up to which one
  I until(I i, I end) { I last = (U)end - (U)i > (U)OFTEN ? i + OFTEN : end, before = n; n += last - i;
      if ((before ^ n) & ~(OFTEN - 1)) rest(); return last; }
  ~Ticks() { I before = state->ticks; state->ticks += n; if ((before ^ state->ticks) & ~(OFTEN - 1)) rest(); }
};
struct Deep {
  Deep() { char here; if (++state->depth > state->limit || state->stack - &here > 3000000) bail(DEEP); }
  ~Deep() { --state->depth; }
};

struct PyObject;
struct None_ { char unused = 0; };
template <class T> struct Np { T v; };  // a scalar of NumPy's
template <class T> struct Dtype { enum { at = 0 }; };  // which dtype of NumPy's; 0 is none
template <> struct Dtype<bool> { enum { at = 1 }; };
template <> struct Dtype<int8_t> { enum { at = 2 }; };
template <> struct Dtype<uint8_t> { enum { at = 3 }; };
template <> struct Dtype<int16_t> { enum { at = 4 }; };
template <> struct Dtype<uint16_t> { enum { at = 5 }; };
template <> struct Dtype<int32_t> { enum { at = 6 }; };
template <> struct Dtype<uint32_t> { enum { at = 7 }; };
template <> struct Dtype<I> { enum { at = 8 }; };
template <> struct Dtype<U> { enum { at = 9 }; };
template <> struct Dtype<float> { enum { at = 10 }; };
template <> struct Dtype<F> { enum { at = 11 }; };
static inline bool wide(bool v) { return v; }
static inline F wide(float v) { return v; }
static inline F wide(F v) { return v; }
static inline I wide(U v) { if (v >> 63) bail(OVERFLOW); return v; }
template <class T> static inline I wide(T v) { return v; }
struct Dyn {
  unsigned char tag, np = 0; union { I i; F d; };  // 0 bool, 1 int, 2 float; which of NumPy's it is
  template <class T> Dyn(Np<T> v) : Dyn(wide(v.v)) { np = Dtype<T>::at; }
  Dyn() : tag(1), i(0) {}
  Dyn(bool v) : tag(0), i(v) {}
  Dyn(I v) : tag(1), i(v) {}
  Dyn(F v) : tag(2), d(v) {}
  F real() const { return tag == 2 ? d : (F)i; }
};
template <class T> struct Opt {
  bool has = false; T v{};
  Opt() {}
  Opt(const T& value) : has(true), v(value) {}
};
template <class T> struct Unread { static void look(T*) {} };  // what is read when it is asked for
template <class T> struct Ref {
  T* p;
  Ref() : p(nullptr) {}
  explicit Ref(T* made) : p(made) {}
  Ref(const Ref& other) : p(other.p) { if (p) ++p->refs; }
  Ref(Ref&& other) : p(other.p) { other.p = nullptr; }
  Ref& operator=(const Ref& other) { T* theirs = other.p; if (theirs) ++theirs->refs; drop(); p = theirs;
      return *this; }
  Ref& operator=(Ref&& other) { T* mine = p; p = other.p; other.p = mine; return *this; }
  ~Ref() { drop(); }
  void drop() { if (p && --p->refs == 0) last(); }
  __attribute__((noinline)) void last() { p->empty(); p->~T(); give(p, sizeof(T)); }
  T* operator->() const { if (__builtin_expect(!p, 0)) bail(UNBOUND); Unread<T>::look(p); return p; }
};
template <class T> static Ref<T> made() { return Ref<T>(new (take(sizeof(T))) T); }

// ---- text: shared, never changed once it is shared
struct StrBuf { I refs, n, room; };
struct Str {
  StrBuf* p = nullptr;
  Str() {}
  Str(const Str& other) : p(other.p) { if (p) ++p->refs; }
  Str(Str&& other) : p(other.p) { other.p = nullptr; }
  Str& operator=(const Str& other) { StrBuf* theirs = other.p; if (theirs) ++theirs->refs; drop(); p = theirs;
      return *this; }
  Str& operator=(Str&& other) { StrBuf* mine = p; p = other.p; other.p = mine; return *this; }
  ~Str() { drop(); }
  void drop() { if (p && --p->refs == 0) give(p, sizeof(StrBuf) + 4 * p->room); }
  I n() const { return p ? p->n : 0; }
  uint32_t* data() const { return (uint32_t*)(p + 1); }
};
struct Worded {  // a number, or a text
  bool is_text = false; Dyn d; Str s;
  Worded() {}
  explicit Worded(Dyn v) : d(v) {}
  explicit Worded(const Str& v) : is_text(true), s(v) {}
};
static Str str_of(I n) {
  Str s;
  if (n) { I room = n < 4 ? 4 : n; s.p = (StrBuf*)take(sizeof(StrBuf) + 4 * room); s.p->refs = 1; s.p->n = n;
      s.p->room = room; }
  return s;
}
static inline Str letter(uint32_t c) { Str s = str_of(1); *s.data() = c; return s; }
static Str str_from(const char* text) { I n = strlen(text); Str s = str_of(n); for (I k = 0; k < n;
    ++k) s.data()[k] = (unsigned char)text[k]; return s; }
static Str concat(const Str& a, const Str& b) {
  if (!a.n()) return b;
  if (!b.n()) return a;
  Str s = str_of(a.n() + b.n());
  memcpy(s.data(), a.data(), 4 * a.n()); memcpy(s.data() + a.n(), b.data(), 4 * b.n());
  return s;
}
static void append(Str& a, const Str& b) {
  I n = a.n(), m = b.n();
  if (!n) { a = b; return; }
  if (!m) return;
  if (a.p->refs > 1 || a.p->room < n + m) {
    Str s = str_of(2 * (n + m));
    memcpy(s.data(), a.data(), 4 * n); memcpy(s.data() + n, b.data(), 4 * m);
    a = static_cast<Str&&>(s);
  } else memcpy(a.data() + n, b.data(), 4 * m);
  a.p->n = n + m;
}
static inline I place(I i, I n) { if (i < 0) i += n; if ((U)i >= (U)n) bail(RANGE); return i; }
static inline uint32_t letter_at(const Str& s, I i) { return s.data()[place(i, s.n())]; }
static inline Str at(const Str& s, I i) { return letter(letter_at(s, i)); }
static Str cut(const Str& s, I from, I step, I count) {
  Str out = str_of(count);
  for (I k = 0; k < count; ++k) out.data()[k] = s.data()[from + k * step];
  return out;
}
struct Cut { I from, step, count; };
static Cut slice(I n, bool has_lo, I lo, bool has_hi, I hi, I step) {
  if (step == 0) bail(ZERO);
  I low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
  if (!has_lo) lo = step < 0 ? high : low; else { if (lo < 0) lo += n; lo = lo < low ? low : lo > high ? high : lo; }
  if (!has_hi) hi = step < 0 ? low : high; else { if (hi < 0) hi += n; hi = hi < low ? low : hi > high ? high : hi; }
  I count = step < 0 ? (hi < lo ? (lo - hi - 1) / -step + 1 : 0) : (lo < hi ? (hi - lo - 1) / step + 1 : 0);
  return {lo, step, count};
}

// ---- numbers as Python computes them
static inline I plus(I a, I b) { I c; if (__builtin_add_overflow(a, b, &c)) bail(OVERFLOW); return c; }
static inline I minus(I a, I b) { I c; if (__builtin_sub_overflow(a, b, &c)) bail(OVERFLOW); return c; }
static inline I times(I a, I b) { I c; if (__builtin_mul_overflow(a, b, &c)) bail(OVERFLOW); return c; }
static inline F plus(F a, F b) { return a + b; }
static inline F minus(F a, F b) { return a - b; }
static inline F times(F a, F b) { return a * b; }
// what the compiler would compute by itself, it rounds otherwise than the library
static inline F hidden(F a) { volatile F b = a; return b; }
// what a remainder is taken of, with twice the bits
typedef __int128 Int128;
static inline Int128 plus(Int128 a, Int128 b) {
  Int128 c; if (__builtin_add_overflow(a, b, &c)) bail(OVERFLOW); return c; }
static inline Int128 minus(Int128 a, Int128 b) {
  Int128 c; if (__builtin_sub_overflow(a, b, &c)) bail(OVERFLOW); return c; }
static inline Int128 times(Int128 a, Int128 b) {
  Int128 c; if (__builtin_mul_overflow(a, b, &c)) bail(OVERFLOW); return c; }
static inline F exact(I a) { if (a > ((I)1 << 53) || a < -((I)1 << 53)) bail(OVERFLOW); return (F)a; }
static inline F over(I a, I b) { if (!b) bail(ZERO); return exact(a) / exact(b); }
static inline F over(F a, F b) { if (b == 0) bail(ZERO); return a / b; }
static inline I floordiv(I a, I b) {
  if (!b) bail(ZERO);
  if (b == -1) return minus((I)0, a);
  I q = a / b; return q - (a % b != 0 && (a < 0) != (b < 0));
}
static inline I mod(I a, I b) { if (!b) bail(ZERO); if (b == -1) return 0; I r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r; }
static inline I mod(Int128 a, I b) {
  if ((I)a == a) return mod((I)a, b);
  if (!b) bail(ZERO);
  I r = (I)(a % b); return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static inline F mod(F a, F b) {
  if (b == 0) bail(ZERO);
  F r = fmod(a, b);
  if (r != 0) { if ((b < 0) != (r < 0)) r += b; } else r = copysign(0.0, b);
  return r;
}
static inline F floordiv(F a, F b) {
  if (b == 0) bail(ZERO);
  F r = fmod(a, b), q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1.0;
  if (q == 0) return copysign(0.0, a / b);
  F down = floor(q);
  return q - down > 0.5 ? down + 1.0 : down;
}
static I power(I a, I b) {
  if (b < 0) bail(DOMAIN);
  I r = 1;
  while (b) { if (b & 1) r = times(r, a); b >>= 1; if (b) a = times(a, a); }
  return r;
}
static I power(I a, I b, I m) {
  if (b < 0) bail(DOMAIN);
  if (!m) bail(ZERO);
  __int128 r = mod((I)1, m), x = mod(a, m);
  while (b) { if (b & 1) r = r * x % m; x = x * x % m; b >>= 1; }
  I found = (I)r;
  return found != 0 && (found < 0) != (m < 0) ? found + m : found;
}
static F power(F a, F b) {
  if (a == 0 && b < 0) bail(ZERO);
  if (a < 0 && isfinite(b) && floor(b) != b) bail(DOMAIN);
  F r = pow(a, hidden(b));
  if (!isfinite(r) && isfinite(a) && isfinite(b)) bail(OVERFLOW);
  return r;
}
static inline I shl(I a, I b) { if (b < 0) bail(DOMAIN); if (!a) return 0;
    if (b > 62 || (a << b >> b) != a) bail(OVERFLOW); return a << b; }
static inline I shr(I a, I b) { if (b < 0) bail(DOMAIN); return b > 63 ? (a < 0 ? -1 : 0) : a >> b; }
static inline I bitand_(I a, I b) { return a & b; }
static inline I bitand_(Int128 a, I b) { if ((I)a != a && b < 0) bail(OVERFLOW); return (I)(a & b); }
static inline I bitor_(I a, I b) { return a | b; }
static inline I bitxor_(I a, I b) { return a ^ b; }
static inline bool both(bool a, bool b) { return a & b; }
static inline I negative(I a) { return minus((I)0, a); }
static inline F negative(F a) { return -a; }
static inline I magnitude(I a) { return a < 0 ? negative(a) : a; }
static inline F magnitude(F a) { return fabs(a); }
static inline I whole(F a) { if (!(a > -9e18 && a < 9e18)) bail(OVERFLOW); volatile I found = (I)a; return found; }
static inline I whole(I a) { return a; }
static I gcd(I a, I b) { a = magnitude(a); b = magnitude(b); while (b) { I r = a % b; a = b; b = r; } return a; }
"""
    + "".join(map(_MIXED.format, ("plus", "minus", "times", "floordiv", "mod", "power")))
    + r"""static F over(Dyn a, Dyn b) {
  if (a.tag == 2 || b.tag == 2) return over(a.real(), b.real());
  return over(a.i, b.i);
}
static Dyn as_numpy(Dyn a, Dyn like) {
  static const I bits[] = {0, 0, 7, 8, 15, 16, 31, 32, 63, 63};
  if (like.np && a.tag == 1) { I top = ((U)1 << bits[like.np]) - 1; if (a.i > top || a.i < (like.np & 1 ? 0
      : -top - 1)) bail(OVERFLOW); }
  a.np = like.np; return a;
}
static Dyn negative(Dyn a) { if (a.np && !a.tag) bail(KIND); return as_numpy(a.tag == 2 ? Dyn(-a.d)
    : Dyn(negative(a.i)), a); }
static Dyn magnitude(Dyn a) { if (a.np && !a.tag) bail(KIND); return as_numpy(a.tag == 2 ? Dyn(fabs(a.d))
    : Dyn(magnitude(a.i)), a); }
static inline I integer(Dyn a) { if (a.tag != 1) bail(KIND); return a.i; }
static inline I whole(Dyn a) { return a.tag == 2 ? whole(a.d) : a.i; }
static inline F real(I a) { return (F)a; }
static inline F real(F a) { return a; }
static inline F real(Dyn a) { return a.real(); }
static F checked(F r, F a) { if ((r != r && a == a) || (isinf(r) && isfinite(a))) bail(DOMAIN); return r; }
static F finite(F r) { if (!isfinite(r)) bail(DOMAIN); return r; }
static I factorial(I n) { if (n < 0) bail(DOMAIN); I r = 1; for (I k = 2; k <= n; ++k) r = times(r, k); return r; }
static F root(F a) { if (a < 0) bail(DOMAIN); return sqrt(a); }
static F logarithm(F a) { if (!(a > 0)) bail(DOMAIN); return log(hidden(a)); }
static F logarithm2(F a) { if (!(a > 0)) bail(DOMAIN); return log2(hidden(a)); }
static F logarithm10(F a) { if (!(a > 0)) bail(DOMAIN); return log10(hidden(a)); }
static F exponential(F a) { return checked(exp(hidden(a)), a); }
static I floor_(F a) { return whole(floor(a)); }
static I ceil_(F a) { return whole(ceil(a)); }
static I round_(F a) { return whole(nearbyint(a)); }
// NumPy's round(a, n), for factor = 10**n
static F decimals(F a, F factor) { return checked(nearbyint(a * factor) / factor, a); }
"""
    + ROUND_TO
    + LENGTH_OF
    + r"""static I floor_(Dyn a) { return a.tag == 2 ? floor_(a.d) : a.i; }
static I ceil_(Dyn a) { return a.tag == 2 ? ceil_(a.d) : a.i; }
static I round_(Dyn a) { if (a.np && !a.tag) bail(KIND); return a.tag == 2 ? round_(a.d) : a.i; }
static I isqrt_(I a) { if (a < 0) bail(DOMAIN); I r = (I)sqrtl((long double)a); while ((U)r * (U)r > (U)a) --r;
    while ((U)(r + 1) * (U)(r + 1) <= (U)a) ++r; return r; }

// ---- order, equality, truth and hashes
static inline bool eq(I a, I b) { return a == b; }
static inline bool eq(bool a, bool b) { return a == b; }
static inline bool eq(F a, F b) { return a == b; }
static inline bool eq(None_, None_) { return true; }
static inline bool lt(None_, None_) { bail(KIND); }
static inline bool le(None_, None_) { bail(KIND); }
static inline bool lt(I a, I b) { return a < b; }
static inline bool lt(bool a, bool b) { return a < b; }
static inline bool lt(F a, F b) { return a < b; }
static inline bool le(I a, I b) { return a <= b; }
static inline bool le(bool a, bool b) { return a <= b; }
static inline bool le(F a, F b) { return a <= b; }
// as it is compared with another one: beside a float32 of NumPy's a number of Python's is one, too
static F beside(Dyn a, Dyn b) { F v = a.tag == 2 ? a.d : exact(a.i); if (b.np != 10 || a.np) return v;
    F single = (float)v; if (isinf(single) && isfinite(v)) bail(DOMAIN); return single; }
static bool eq(Dyn a, Dyn b) { if (a.tag == 2 || b.tag == 2) return beside(a, b) == beside(b, a); return a.i == b.i; }
static bool lt(Dyn a, Dyn b) { if (a.tag == 2 || b.tag == 2) return beside(a, b) < beside(b, a); return a.i < b.i; }
static bool le(Dyn a, Dyn b) { if (a.tag == 2 || b.tag == 2) return beside(a, b) <= beside(b, a); return a.i <= b.i; }
static bool eq(const Str& a, const Str& b) { return a.p == b.p || (a.n() == b.n() && !memcmp(a.data(), b.data(),
    4 * a.n())); }
static bool lt(const Str& a, const Str& b) {
  I n = a.n() < b.n() ? a.n() : b.n();
  for (I k = 0; k < n; ++k) if (a.data()[k] != b.data()[k]) return a.data()[k] < b.data()[k];
  return a.n() < b.n();
}
static bool le(const Str& a, const Str& b) { return !lt(b, a); }
template <class T> bool eq(const Opt<T>& a, const Opt<T>& b) { return a.has == b.has && (!a.has || eq(a.v, b.v)); }
template <class T> bool lt(const Opt<T>& a, const Opt<T>& b) { if (!a.has || !b.has) bail(KIND); return lt(a.v, b.v); }
template <class T> bool le(const Opt<T>& a, const Opt<T>& b) { if (!a.has || !b.has) bail(KIND); return le(a.v, b.v); }
static bool eq(const Worded& a, const Worded& b) { return a.is_text == b.is_text && (a.is_text ? eq(a.s, b.s)
    : eq(a.d, b.d)); }
static const Dyn& number_in(const Worded& a) { if (a.is_text) bail(KIND); return a.d; }
static const Str& text_in(const Worded& a) { if (!a.is_text) bail(KIND); return a.s; }
template <class T> const T& need(const Opt<T>& a) { if (!a.has) bail(KIND); return a.v; }
static inline bool truth(bool a) { return a; }
static inline bool truth(I a) { return a != 0; }
static inline bool truth(F a) { return a != 0; }
static inline bool truth(Dyn a) { return a.tag == 2 ? a.d != 0 : a.i != 0; }
static inline bool truth(None_) { return false; }
static inline bool truth(const Str& a) { return a.n() != 0; }
static inline bool truth(const Worded& a) { return a.is_text ? truth(a.s) : truth(a.d); }
template <class T> bool truth(const Opt<T>& a) { return a.has && truth(a.v); }
static inline U mixed(U h) { h ^= h >> 32; h *= 0xd6e8feb86659fd93ull; h ^= h >> 32; return h; }
static inline U hash_of(I a) { return mixed((U)a + 0x9e3779b97f4a7c15ull); }
static inline U hash_of(bool a) { return hash_of((I)a); }
static U hash_of(F a) { if (a != a) bail(DOMAIN); if (a == 0) a = 0; U bits; memcpy(&bits, &a, 8);
    return mixed(bits); }
static U hash_of(Dyn a) { if (a.tag != 2) return hash_of(a.i);
    return a.d > -9e18 && a.d < 9e18 && a.d == (F)(I)a.d ? hash_of((I)a.d) : hash_of(a.d); }
static inline U hash_of(None_) { return 7; }
static U hash_of(const Str& a) { U h = 1469598103934665603ull; for (I k = 0; k < a.n();
    ++k) h = (h ^ a.data()[k]) * 1099511628211ull; return mixed(h); }
static U hash_of(const Worded& a) { return a.is_text ? hash_of(a.s) : hash_of(a.d); }
template <class T> U hash_of(const Opt<T>& a) { return a.has ? hash_of(a.v) : 7; }
"""
)
