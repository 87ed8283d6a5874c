"""C++ of typed programs: NumPy's arrays and scalars, which are copied in, and copied back where they were changed."""

import numpy as np

from looplift.emit.typed_types import ELEMENTS

_CODES = [None, *ELEMENTS.values()]
_PROMOTED = [
    _CODES.index(ELEMENTS[np.promote_types(one.dtype, other.dtype).name]) if one and other else 0
    for one in _CODES
    for other in _CODES
]

ARRAYS = r"""// ---- scalars of NumPy's: numbers that give scalars again
template <class T> static inline bool eq(Np<T> a, Np<T> b) { return a.v == b.v; }
template <class T> static inline bool lt(Np<T> a, Np<T> b) { return a.v < b.v; }
template <class T> static inline bool le(Np<T> a, Np<T> b) { return a.v <= b.v; }
template <class T> static inline bool item_eq(Np<T> a, Np<T> b) { return item_eq(wide(a.v), wide(b.v)); }
template <class T> static inline void orderly(Np<T> a) { orderly(wide(a.v)); }
template <class T> static inline bool truth(Np<T> a) { return a.v != 0; }
template <class T> static inline U hash_of(Np<T> a) { return hash_of(wide(a.v)); }
template <class T> static inline Str text(Np<T> a) { return text(wide(a.v)); }
// a value as one of a dtype; what does not fit raises, warns or wraps around
template <class T> static inline T fit(I v) { T r = (T)v;
    if ((I)r != v || (v < 0) != (r < 0)) bail(OVERFLOW); return r; }
template <> inline F fit<F>(I v) { return (F)v; }
template <> inline float fit<float>(I v) { return (float)exact(v); }
template <class T> static inline T fit(bool v) { return v; }
template <class T> static inline T fit(F v) { return fit<T>(whole(v)); }
template <> inline F fit<F>(F v) { return v; }
template <> inline float fit<float>(F v) { float r = (float)v; if (isinf(r) && isfinite(v)) bail(DOMAIN); return r; }
template <class T> static inline T fit(Dyn v) { return v.tag == 2 ? fit<T>(v.d) : fit<T>(v.i); }
// NumPy warns where a result is not finite though what it is made of is
template <class T> static inline T quiet_(T r, T a, T b) { if (__builtin_expect(!isfinite(r), 0)) {
    if ((r != r && a == a && b == b) || (isinf(r) && isfinite(a) && isfinite(b))) bail(DOMAIN); } return r; }
static inline F quiet(F r, F a, F b) { return quiet_(r, a, b); }
static inline float quiet(float r, float a, float b) { return quiet_(r, a, b); }
static inline I quiet(I r, I, I) { return r; }
template <class T> static inline auto raw(Np<T> a) { return wide(a.v); }
static inline Dyn raw(Dyn a) { return a; }
static inline F raw(F a) { return a; }
static inline I raw(I a) { return a; }
static inline bool raw(bool a) { return a; }

// ---- float32
extern "C" { float fmodf(float, float), powf(float, float); }
static inline float hidden(float a) { volatile float b = a; return b; }
static inline float plus(float a, float b) { return a + b; }
static inline float minus(float a, float b) { return a - b; }
static inline float times(float a, float b) { return a * b; }
static inline float over(float a, float b) { if (b == 0) bail(ZERO); return a / b; }
static inline float negative(float a) { return -a; }
static inline float magnitude(float a) { return __builtin_fabsf(a); }
static float mod(float a, float b) {
  if (b == 0) bail(ZERO);
  float r = fmodf(a, b);
  if (r != 0) { if ((b < 0) != (r < 0)) r += b; } else r = __builtin_copysignf(0.0f, b);
  return r;
}
static float floordiv(float a, float b) {
  if (b == 0) bail(ZERO);
  float r = fmodf(a, b), q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1.0f;
  if (q == 0) return __builtin_copysignf(0.0f, a / b);
  float down = __builtin_floorf(q);
  return q - down > 0.5f ? down + 1.0f : down;
}
static float power(float a, float b) {
  if (a == 0 && b < 0) bail(ZERO);
  return powf(a, hidden(b));
}

// ---- numbers of which only the run tells whether they are NumPy's, and of which dtype
static const unsigned char promoted_[144] = {PROMOTED};
static unsigned char met(Dyn a, Dyn b) {
  if (a.np && b.np) return promoted_[a.np * 12 + b.np];
  unsigned char c = a.np | b.np, tag = a.np ? b.tag : a.tag;
  return !c ? 0 : tag == 2 ? (c >= 10 ? c : 11) : tag == 1 && c == 1 ? 8 : c;
}
static Dyn as_operand(Dyn a, unsigned char c) { Dyn like; like.np = c; return a.np ? a : as_numpy(a, like); }
static Dyn told(I r, unsigned char c) { Dyn like; like.np = c; return as_numpy(Dyn(r), like); }
static Dyn told(F r, unsigned char c) { Dyn found(r); found.np = c == 10 ? 10 : 11; return found; }
// a power that NumPy takes as of arrays has other digits
static void check_power(Dyn a, Dyn b) { unsigned char c = met(a, b);
    if (c >= 10 && a.np != c && b.np != c) bail(KIND); }
template <class Fn> Dyn mixed(Dyn a, Dyn b, Fn f) {
  unsigned char c = met(a, b);
  if (!c) return a.tag == 2 || b.tag == 2 ? Dyn(f(a.real(), b.real())) : Dyn(f(a.i, b.i));
  if (c == 1) bail(KIND);
  if (c == 10) { float x = a.tag == 2 ? fit<float>(a.d) : fit<float>(a.i), y = b.tag == 2 ? fit<float>(b.d)
      : fit<float>(b.i); return told((F)quiet(f(x, y), x, y), c); }
  if (c == 11) { F x = a.real(), y = b.real(); return told(quiet(f(x, y), x, y), c); }
  return told(f(as_operand(a, c).i, as_operand(b, c).i), c);
}
static inline Dyn scalar_of(bool v) { Dyn r(v); r.np = 1; return r; }
static Dyn verdict(bool v, Dyn a, Dyn b) { Dyn r(v); r.np = a.np || b.np; return r; }

// ---- Python's objects of them
struct Seen { void* data; PyObject* owner; I n, itemsize; int readonly, rank; char* format; I *shape, *strides, *sub;
    void* more; };
extern "C" { int PyObject_GetBuffer(PyObject*, Seen*, int); void PyBuffer_Release(Seen*);
    PyObject* PyNumber_Index(PyObject*); int PyObject_IsTrue(PyObject*); }
static struct { struct Range { I from, to; bool is_spread; const bool* dirty; }* all; I n, room; } spans;
static struct { struct View { I count, about[10]; View* next; } *first; } handed;
static struct { PyObject *array, *empty, *scalars[12], *all; } numpy;
static void begin_numpy(PyObject* all) {
    memset(&spans, 0, sizeof spans); handed.first = nullptr;
    numpy.array = PyTuple_GetItem(all, 0); numpy.empty = PyTuple_GetItem(all, 1);
    numpy.all = all; for (int k = 1; k < 12; ++k) numpy.scalars[k] = PyTuple_GetItem(all, 1 + k); }
template <class T> static bool is_format(char c) {
  static const char* const letters[] = {"", "?", "b", "B", "h", "H", "i", "I", "lq", "LQ", "f", "d"};
  const char* mine = letters[Dtype<T>::at]; return c == mine[0] || (c && c == mine[1]); }
static PyObject* numpy_scalar(PyObject* v, int code) { return PyObject_CallFunctionObjArgs(numpy.scalars[code], keep(v),
    nullptr); }
template <class T> PyObject* object(Np<T> v) { return numpy_scalar(object(wide(v.v)), Dtype<T>::at); }
static PyObject* object_of_numpy(Dyn v) { return numpy_scalar(v.tag == 2 ? object(v.d) : v.tag ? object(v.i)
    : object((bool)v.i), v.np); }
static F number_in(PyObject* o, F) { return PyFloat_AsDouble(o); }
static I number_in(PyObject* o, I) { return From<I>::of(keep(PyNumber_Index(o))); }
static bool number_in(PyObject* o, bool) { return PyObject_IsTrue(o); }
static Dyn numpy_number(PyObject* o) {
  for (int k = 1; k < 12; ++k) if (o->type == (void*)numpy.scalars[k]) {
    Dyn v = k >= 10 ? Dyn(number_in(o, F())) : k == 1 ? Dyn(number_in(o, bool())) : Dyn(number_in(o, I()));
    v.np = k;
    return v; }
  bail(KIND);
}
template <class T> struct From<Np<T>> { static Np<T> of(PyObject* o) {
  must(o->type == (void*)numpy.scalars[Dtype<T>::at]); return {(T)number_in(o, wide(T()))}; } };
template <class T> struct Buf {
  I refs = 1, n = 0, size[4] = {}, rank = 0;
  T* data = nullptr;
  PyObject* from = nullptr;
  bool dirty = false;
  bool is_turned = false;  // NumPy has the elements in another order
  bool is_in_columns = false;  // maybe in that of columns
  void empty() { if (data) give(data, n * sizeof(T)); data = nullptr; }
};
template <class T, int R> struct Arr {
  Ref<Buf<T>> base;
  T* p = nullptr;
  I size[R] = {}, step[R] = {};
  bool is_whole = false;
};
// whether NumPy may make what is like an array in another order than that of rows
template <class T, int R> bool in_columns(const Arr<T, R>& a) { if (R > 1 && a.base->is_in_columns) return true;
    I least = -1;
    for (int k = 0; k < R; ++k) if (a.size[k] > 1) { I step = a.step[k] < 0 ? -a.step[k] : a.step[k];
        if (least >= 0 && step > least) return true; least = step; }
    return false; }
template <class T> bool in_columns(const T&) { return false; }
template <class T, int R> Arr<T, R> all_of(const Ref<Buf<T>>& base) {
  Arr<T, R> a; a.base = base; a.p = base->data; a.is_whole = true;
  I step = 1;
  for (int k = R - 1; k >= 0; --k) { a.size[k] = base->size[k]; a.step[k] = step; step *= a.size[k]; }
  return a;
}
template <class T, int R> Arr<T, R> array_of(const I (&size)[R]) {
  Ref<Buf<T>> base = made<Buf<T>>();
  I n = 1;
  for (int k = 0; k < R; ++k) { if (size[k] < 0) bail(DOMAIN); n = times(n, size[k]); base->size[k] = size[k]; }
  if (n > ((I)1 << 27)) bail(MEMORY);
  base->data = (T*)take(n * sizeof(T)); base->n = n; base->rank = R;
  return all_of<T, R>(base);
}
template <class T, int R, class Fn> void each(const Arr<T, R>& a, Fn f) {
  I at_[R] = {};
  for (int k = 0; k < R; ++k) if (!a.size[k]) return;
  for (;;) {
    T* q = a.p; for (int k = 0; k < R - 1; ++k) q += at_[k] * a.step[k];
    for (I i = 0; i < a.size[R - 1]; ++i) f(q[i * a.step[R - 1]]);
    int k = R - 2;
    while (k >= 0 && ++at_[k] == a.size[k]) at_[k--] = 0;
    if (k < 0) return;
  }
}
// what a buffer of the caller's has, in order; its strides count bytes
template <class T, class Fn> void each_given(const Seen& b, Fn f) {
  I at_[4] = {};
  for (int k = 0; k < b.rank; ++k) if (!b.shape[k]) return;
  for (;;) {
    char* q = (char*)b.data; for (int k = 0; k < b.rank; ++k) q += at_[k] * b.strides[k];
    f(*(T*)q);
    int k = b.rank - 1;
    while (k >= 0 && ++at_[k] == b.shape[k]) at_[k--] = 0;
    if (k < 0) return;
  }
}
// where arrays of the caller's are
struct Span { char *from, *to; I n; bool is_spread; };
static Span span_of(const Seen& b) {
  Span s = {(char*)b.data, (char*)b.data + b.itemsize, b.n, false};
  if (s.n) for (int k = 0; k < b.rank; ++k) { s.is_spread |= !b.strides[k] && b.shape[k] > 1;
      (b.strides[k] < 0 ? s.from : s.to) += b.strides[k] * (b.shape[k] - 1); }
  return s;
}
static bool has_rows(const Seen& b) { I step = b.itemsize; for (int k = b.rank - 1; k >= 0; --k) {
    if (b.shape[k] != 1 && b.strides[k] != step) return false; step *= b.shape[k]; } return true; }
static void stand_alone(const Span& s, const bool* dirty) {
  if (!s.n) return;
  if (spans.n == spans.room) {
    I room = spans.room ? 2 * spans.room : 16; auto* all = (decltype(spans.all))take(room * sizeof(*spans.all));
    if (spans.n) memcpy(all, spans.all, spans.n * sizeof(*spans.all));
    spans.all = all; spans.room = room;
  }
  spans.all[spans.n++] = {(I)s.from, (I)s.to, s.is_spread || s.to - s.from < s.n, dirty};
}
// asked before any is changed: where one is, it shares no place with another one, nor with itself
static void all_apart() {
  I n = spans.n, *from = (I*)take((3 * n + 1) * sizeof(I)), *order = from + n;
  for (I k = 0; k < n; ++k) { from[k] = spans.all[k].from; order[k] = k; }
  sort_many(from, order, order + n, n, false);
  I end = INT64_MIN, changed = INT64_MIN;
  for (I k = 0; k < n; ++k) {
    auto& one = spans.all[order[k]];
    if (one.from < changed || (*one.dirty && (one.is_spread || one.from < end))) bail(KIND);
    if (one.to > end) end = one.to;
    if (*one.dirty && one.to > changed) changed = one.to;
  }
}
template <class T> struct Opened {
  Seen b;
  Opened(PyObject* o) { if (PyObject_GetBuffer(o, &b, 0x18 | 0x4)) { PyErr_Clear(); bail(KIND); } }
  void close() { PyBuffer_Release(&b); }
};
template <class T> void commit_array(PyObject* o, void* box, PyObject** fresh) {
  Buf<T>* base = (Buf<T>*)box;
  if (!base->dirty) return;
  Opened<T> opened(o);
  if (!*fresh) { bool refused = opened.b.readonly; opened.close(); if (refused) bail(KIND);
      Py_IncRef(o); *fresh = keep(o); return; }
  I k = 0;
  each_given<T>(opened.b, [&](T& v) { v = base->data[k++]; });
  opened.close();
}
template <class T, int R> struct From<Arr<T, R>> { typedef Buf<T> B; static Arr<T, R> of(PyObject* o) {
  must(o->type == (void*)numpy.array);
  if (Given* g = given_of(o)) { Arr<T, R> found = all_of<T, R>(again<B>(g)); return found; }
  I size[R];
  Span span;
  bool is_turned = false;
  {
    Opened<T> opened(o);
    const char* format = opened.b.format;
    bool fits = opened.b.rank == R && is_format<T>(format[0]) && !format[1];
    if (fits) { for (int k = 0; k < R; ++k) size[k] = opened.b.shape[k]; span = span_of(opened.b);
        is_turned = !has_rows(opened.b); }
    opened.close();  // what may end the program comes while nothing is open
    must(fits);
  }
  Arr<T, R> out = array_of<T, R>(size);
  stand_alone(span, &out.base.p->dirty);
  Opened<T> opened(o);
  I k = 0;
  each_given<T>(opened.b, [&](T& v) { out.base->data[k++] = v; });
  opened.close();
  out.base->is_turned = out.base->is_in_columns = is_turned;
  out.base->from = o; out.base->refs++; give_in(o, out.base.p, &Tag<B>::at, commit_array<T>);
  return out;
} };
static PyObject* tuple_of(const I* numbers, int count, I unit) {
  PyObject* found = keep(PyTuple_New(count));
  for (int k = 0; k < count; ++k) PyTuple_SetItem(found, k, py(numbers[k] * unit));
  return found;
}
template <class T> PyObject* object_of(const Ref<Buf<T>>& base) {
  if (base->from) { Py_IncRef(base->from); return base->from; }
  PyObject* o = PyObject_CallFunctionObjArgs(numpy.empty, tuple_of(base->size, (int)base->rank, 1),
      numpy.scalars[Dtype<T>::at], nullptr);
  if (!o) return o;
  base->from = keep(o); Py_IncRef(o); base.p->refs++;
  Opened<T> opened(o);
  if (base->n) memcpy(opened.b.data, base->data, base->n * sizeof(T));
  opened.close();
  return o;
}
template <class T, int R> PyObject* part_of(const Arr<T, R>& v) {
  const T* data = v.base->data;
  if (v.base->is_turned || !v.base->rank || v.p < data || v.p >= data + v.base->n) bail(KIND);
  I about[2 + 2 * R] = {(I)v.base.p, v.p - v.base->data};
  for (int k = 0; k < R; ++k) { about[2 + k] = v.size[k]; about[2 + R + k] = v.step[k]; if (!v.size[k]) bail(KIND); }
  for (auto* one = handed.first; one; one = one->next)  // one view, or two that are alike: nobody knows
    if (one->count == 2 + 2 * R && !memcmp(one->about, about, sizeof about)) bail(KIND);
  auto* made_ = (decltype(handed.first))take(sizeof *handed.first);
  made_->count = 2 + 2 * R; memcpy(made_->about, about, sizeof about); made_->next = handed.first; handed.first = made_;
  PyObject* whole = keep(object_of(v.base));
  return PyObject_CallFunctionObjArgs(numpy.array, tuple_of(v.size, R, 1), numpy.scalars[Dtype<T>::at], whole,
      keep(py(about[1] * (I)sizeof(T))), tuple_of(v.step, R, sizeof(T)), nullptr);
}
template <class T, int R> PyObject* object(const Arr<T, R>& v) {
  if (!v.base.p) bail(UNBOUND);
  return v.is_whole ? object_of(v.base) : part_of(v);
}

// ---- elements and views
template <class T, int R> I count_of(const Arr<T, R>& a) { I n = 1; for (int k = 0; k < R; ++k) n *= a.size[k];
    return n; }
template <class T> T& at(const Arr<T, 1>& a, I i) { return a.p[place(i, a.size[0]) * a.step[0]]; }
template <class T> T& at(const Arr<T, 2>& a, I i, I j) { return a.p[place(i, a.size[0]) * a.step[0]
    + place(j, a.size[1]) * a.step[1]]; }
template <class T> T& at(const Arr<T, 3>& a, I i, I j, I k) { return a.p[place(i, a.size[0]) * a.step[0]
    + place(j, a.size[1]) * a.step[1] + place(k, a.size[2]) * a.step[2]]; }
template <class T> T& at(const Arr<T, 4>& a, I i, I j, I k, I l) { return a.p[place(i, a.size[0]) * a.step[0]
    + place(j, a.size[1]) * a.step[1] + place(k, a.size[2]) * a.step[2] + place(l, a.size[3]) * a.step[3]]; }
template <class T, int R, class... X> void put(const Arr<T, R>& a, T v, X... places) { at(a, places...) = v;
    a.base.p->dirty = true; }
template <int axis, class T, int R> Arr<T, R - 1> pick(const Arr<T, R>& a, I i) {
  Arr<T, R - 1> out; out.base = a.base; out.p = a.p + place(i, a.size[axis]) * a.step[axis];
  for (int k = 0, o = 0; k < R; ++k) if (k != axis) { out.size[o] = a.size[k]; out.step[o++] = a.step[k]; }
  return out;
}
template <class T, int R, class... Index> static inline Arr<T, R - 1 - int(sizeof...(Index))> picked(const Arr<T, R>& a,
    I first, Index... rest) {
  if constexpr (sizeof...(rest) == 0) return pick<0>(a, first);
  else return picked(pick<0>(a, first), rest...);
}
template <int axis, class T, int R> Arr<T, R> cut_of(const Arr<T, R>& a, Cut c) {
  Arr<T, R> out = a; out.is_whole = false;
  if (c.count) out.p = a.p + c.from * a.step[axis];
  out.size[axis] = c.count; out.step[axis] = a.step[axis] * c.step;
  return out;
}
template <class T, int R> bool is_packed(const Arr<T, R>& a) { I step = 1; for (int k = R - 1; k >= 0; --k) {
    if (a.size[k] != 1 && a.step[k] != step) return false; step *= a.size[k]; } return true; }
template <class T, int R> Arr<T, 1> flat(const Arr<T, R>& a) { Arr<T, 1> out; out.base = a.base; out.p = a.p;
    out.size[0] = count_of(a); out.step[0] = 1; return out; }
template <class T, int R> Arr<T, R> copy_in_rows(const Arr<T, R>& a) { Arr<T, R> out = copy(a);
    out.base->is_in_columns = false; return out; }
template <class T, int R> Arr<T, 1> all_in_rows(const Arr<T, R>& a) { return flat(is_packed(a) ? a : copy_in_rows(a)); }
// a copy only where NumPy makes one, which depends on its order
template <class T, int R> Arr<T, 1> ravelled(const Arr<T, R>& a) {
    if (a.base->is_turned || a.base->is_in_columns) bail(KIND); return all_in_rows(a); }
template <class T> Arr<T, 2> turned(const Arr<T, 2>& a) { Arr<T, 2> out = a; out.is_whole = false;
    for (int k = 0; k < 2; ++k) { out.size[k] = a.size[1 - k]; out.step[k] = a.step[1 - k]; } return out; }
template <class T, int R> I size(const Arr<T, R>& a) { return a.size[0]; }

// ---- values of one dtype as values of another
template <class To> struct Cast { template <class S> static To of(S v) { return fit<To>(wide(v)); }
    static To of(Dyn v) { return fit<To>(v); } };
template <> struct Cast<bool> { template <class S> static bool of(S v) { return v != 0; }
    static bool of(Dyn v) { return truth(v); } };
// arrays of integers wrap around
template <class T> static inline T wrapped_plus(T a, T b) { return (T)((U)a + (U)b); }
template <class T> static inline T wrapped_minus(T a, T b) { return (T)((U)a - (U)b); }
template <class T> static inline T wrapped_times(T a, T b) { return (T)((U)a * (U)b); }
template <class T> static inline T wrapped_negative(T a) { return (T)((U)0 - (U)a); }
template <class T> static inline T wrapped_magnitude(T a) { return a < 0 ? wrapped_negative(a) : a; }

// ---- all elements at once: sizes are those of the operands, where one stands for many
template <int R> struct Shape { I size[R]; Shape() { for (int k = 0; k < R; ++k) size[k] = 1; } };
template <int R> void meet(I& mine, I other) { if (other == mine || other == 1) return; if (mine != 1) bail(KIND);
    mine = other; }
template <int R, class T, int Q> void meet_all(Shape<R>& s, const Arr<T, Q>& a) { for (int k = 0; k < Q; ++k)
    meet<R>(s.size[R - Q + k], a.size[k]); }
template <int R, class T> void meet_all(Shape<R>&, const T&) {}
template <class T, int R> struct Lane { T* p; I step[R]; T& at(const I* i) const { T* q = p;
    for (int k = 0; k < R; ++k) q += i[k] * step[k]; return *q; } };
template <class T, int R> struct Same { T v; T at(const I*) const { return v; } };
template <int R, class T, int Q> Lane<T, R> lane(const Arr<T, Q>& a) { Lane<T, R> out; out.p = a.p;
    for (int k = 0; k < R; ++k) out.step[k] = k < R - Q || a.size[k - (R - Q)] == 1 ? 0 : a.step[k - (R - Q)];
    return out; }
template <int R, class T> Same<T, R> lane(const T& v) { return {v}; }
template <class O, int R, class Fn, class... X> Arr<O, R> mapped(Fn f, const X&... x) {
  Shape<R> s; (void)(int[]){(meet_all<R>(s, x), 0)...};
  Arr<O, R> out = array_of<O, R>(s.size);
  I at_[R] = {}, n = out.base->n;
  auto fill = [&](auto... lanes) {
    for (I k = 0; k < n; ++k) {
      out.p[k] = f(lanes.at(at_)...);
      for (int d = R - 1; d >= 0 && ++at_[d] == s.size[d]; --d) at_[d] = 0;
    }
  };
  fill(lane<R>(x)...);
  if constexpr (R > 1) (void)(int[]){(out.base->is_in_columns |= in_columns(x), 0)...};
  return out;
}
template <class T, int R> Arr<T, R> copy(const Arr<T, R>& a) { return mapped<T, R>([](T v) { return v; }, a); }
template <class T, int R, class S> void fill(const Arr<T, R>& a, S v) { T w = Cast<T>::of(v); each(a, [&](T& one) {
    one = w; }); a.base->dirty = true; }
template <class T, int R, class S, int Q> void assign(const Arr<T, R>& a, const Arr<S, Q>& b) {
  Shape<R> s; for (int k = 0; k < R; ++k) s.size[k] = a.size[k];
  for (int k = 0; k < Q; ++k) if (b.size[k] != 1 && b.size[k] != a.size[R - Q + k]) bail(KIND);
  Arr<S, Q> from = (void*)a.base.p == (void*)b.base.p ? copy(b) : b;
  Lane<T, R> to = lane<R>(a); Lane<S, R> source = lane<R>(from);
  I at_[R] = {}, n = count_of(a);
  for (I k = 0; k < n; ++k) {
    to.at(at_) = Cast<T>::of(source.at(at_));
    for (int d = R - 1; d >= 0 && ++at_[d] == s.size[d]; --d) at_[d] = 0;
  }
  a.base->dirty = true;
}
// several places at once: how far each is from the first element
template <class T, int R, int M> Arr<I, 1> spots_where(const Arr<T, R>& a, const Arr<bool, M>& mask) {
  for (int d = 0; d < M; ++d) if (mask.size[d] != a.size[d]) bail(RANGE);
  I size[1] = {0}, at_[M] = {}; each(mask, [&](bool v) { size[0] += v; });
  Arr<I, 1> out = array_of<I, 1>(size);
  I* to = out.p;
  each(mask, [&](bool v) {
    if (v) { I far = 0; for (int d = 0; d < M; ++d) far += at_[d] * a.step[d]; *to++ = far; }
    for (int d = M - 1; d >= 0 && ++at_[d] == mask.size[d]; --d) at_[d] = 0;
  });
  return out;
}
template <class K> static inline I count_with(I n, const Arr<K, 1>& a) { if (n >= 0 && a.size[0] != n) bail(KIND);
    return a.size[0]; }
static inline I count_with(I n, I) { return n; }
template <class K> static inline I place_at(const Arr<K, 1>& a, I k, I n) {
    return place((I)wide(a.p[k * a.step[0]]), n); }
static inline I place_at(I v, I, I n) { return place(v, n); }
template <class T, int R, class... X> Arr<I, 1> spots_at(const Arr<T, R>& a, const X&... places) {
  I size[1] = {-1}; (void)(int[]){(size[0] = count_with(size[0], places), 0)...};
  if (!size[0] && sizeof...(X) > 1) bail(EMPTY);  // a place beside none may be out of range
  Arr<I, 1> out = array_of<I, 1>(size);
  for (I k = 0; k < size[0]; ++k) { I far = 0; int d = 0;
    (void)(int[]){(far += place_at(places, k, a.size[d]) * a.step[d], ++d, 0)...}; out.p[k] = far; }
  return out;
}
template <int M, class T, int R> Arr<T, R - M> rest_at(const Arr<T, R>& a, I far) {
  Arr<T, R - M> out; out.base = a.base; out.p = a.p + far;
  for (int k = M; k < R; ++k) { out.size[k - M] = a.size[k]; out.step[k - M] = a.step[k]; }
  return out;
}
template <int M, class T, int R> Arr<T, R - M + 1> gathered(const Arr<T, R>& a, const Arr<I, 1>& spots, bool columns) {
  I size[R - M + 1] = {spots.size[0]}; for (int k = M; k < R; ++k) size[k - M + 1] = a.size[k];
  Arr<T, R - M + 1> out = array_of<T, R - M + 1>(size);
  for (I k = 0; k < size[0]; ++k) {
    if constexpr (M == R) out.p[k] = a.p[spots.p[k]];
    else assign(pick<0>(out, k), rest_at<M>(a, spots.p[k]));
  }
  out.base->is_turned = out.base->is_in_columns = R - M > 1 && columns;
  return out;
}
template <int M, class T, int R, class S> void put_all(const Arr<T, R>& a, const Arr<I, 1>& spots, S v) {
  T w = Cast<T>::of(v);
  for (I k = 0; k < spots.size[0]; ++k) {
    if constexpr (M == R) a.p[spots.p[k]] = w;
    else fill(rest_at<M>(a, spots.p[k]), w);
  }
  a.base->dirty = true;
}
template <int M, class T, int R, class S, int Q> void put_each(const Arr<T, R>& a, const Arr<I, 1>& spots,
    const Arr<S, Q>& b) {
  const int rank = R - M + 1;
  I size[rank] = {spots.size[0]}; for (int k = M; k < R; ++k) size[k - M + 1] = a.size[k];
  for (int k = 0; k < Q; ++k) if (b.size[k] != 1 && b.size[k] != size[rank - Q + k]) bail(KIND);
  Arr<S, Q> from = (void*)a.base.p == (void*)b.base.p ? copy(b) : b;
  Lane<S, rank> source = lane<rank>(from);
  for (I k = 0; k < size[0]; ++k) {
    S* p = source.p + k * source.step[0];
    if constexpr (M == R) a.p[spots.p[k]] = Cast<T>::of(*p);
    else {
      Arr<S, R - M> row; row.base = from.base; row.p = p;
      for (int d = 1; d < rank; ++d) { row.size[d - 1] = size[d]; row.step[d - 1] = source.step[d]; }
      assign(rest_at<M>(a, spots.p[k]), row);
    }
  }
  a.base->dirty = true;
}
// a dimension before all others, and back
template <int axis, class T, int R> Arr<T, R> to_front(const Arr<T, R>& a) {
  Arr<T, R> out = a; out.is_whole = false; out.size[0] = a.size[axis]; out.step[0] = a.step[axis];
  for (int k = 0; k < axis; ++k) { out.size[k + 1] = a.size[k]; out.step[k + 1] = a.step[k]; }
  return out;
}
template <int axis, class T, int R> Arr<T, R> from_front(const Arr<T, R>& a) {
  Arr<T, R> out = a; out.is_whole = false; out.size[axis] = a.size[0]; out.step[axis] = a.step[0];
  for (int k = 0; k < axis; ++k) { out.size[k] = a.size[k + 1]; out.step[k] = a.step[k + 1]; }
  return out;
}
// the elements as numbers of Python's, in lists of lists
template <class L> struct Listed;
template <class S> struct Listed<Ref<List<S, 0>>> { template <class T> static Ref<List<S, 0>> of(const Arr<T, 1>& a) {
  Ref<List<S, 0>> out = list_of<List<S, 0>>(a.size[0]);
  for (I i = 0; i < a.size[0]; ++i) out->add(As<S>::of(wide(a.p[i * a.step[0]])));
  return out; } };
template <class S> struct Listed<Ref<List<Ref<List<S, 0>>, 0>>> {
  template <class T, int R> static Ref<List<Ref<List<S, 0>>, 0>> of(const Arr<T, R>& a) {
    auto out = list_of<List<Ref<List<S, 0>>, 0>>(a.size[0]);
    for (I i = 0; i < a.size[0]; ++i) out->add(Listed<Ref<List<S, 0>>>::of(pick<0>(a, i)));
    return out; } };
// the places of elements that hold, in rows: a column, or a row, for each dimension
template <bool by_dimension, class T, int R> Arr<I, 2> holding(const Arr<T, R>& a) {
  I n = 0; each(a, [&](T v) { n += v != 0; });
  I size[2] = {by_dimension ? R : n, by_dimension ? n : R}, at_[R] = {}, k = 0;
  Arr<I, 2> out = array_of<I, 2>(size);
  each(a, [&](T v) {
    if (v != 0) { for (int d = 0; d < R; ++d) out.p[by_dimension ? d * n + k : k * R + d] = at_[d]; ++k; }
    for (int d = R - 1; d >= 0 && ++at_[d] == a.size[d]; --d) at_[d] = 0;
  });
  return out;
}
static inline int double_of(const Dyn& v) {  // 0: of another type of NumPy's, 1: an integer of Python's, 2: a double
  bool is_other = v.tag == 0 || (v.np && v.np != Dtype<F>::at); return is_other ? 0 : v.tag; }
template <int k> bool are_doubles(const Ref<List<Dyn, k>>& l) { bool some = false;
  for (I a = 0; a < l->n; ++a) { int found = double_of(l->data[l->head + a]); if (!found) return false;
    some |= found == 2; }
  return some; }
template <int k> bool are_doubles(const Ref<List<Ref<List<Dyn, k>>, k>>& l) {
  for (I a = 0; a < l->n; ++a) if (!are_doubles(l->data[l->head + a])) return false; return l->n > 0; }
template <class T, class S, int k> Arr<T, 1> array_from(const Ref<List<S, k>>& l) {
  I size[1] = {l->n}; Arr<T, 1> out = array_of<T, 1>(size);
  for (I i = 0; i < l->n; ++i) out.p[i] = Cast<T>::of(raw(l->data[l->head + i]));
  return out;
}
template <class T, class S, int k> Arr<T, 2> table_from(const Ref<List<Ref<List<S, k>>, k>>& l) {
  I size[2] = {l->n, l->n ? l->at(0)->n : 0}; Arr<T, 2> out = array_of<T, 2>(size);
  for (I i = 0; i < l->n; ++i) { auto& row = *l->at(i).p; if (row.n != size[1]) bail(KIND);
      for (I j = 0; j < row.n; ++j) out.p[i * size[1] + j] = Cast<T>::of(raw(row.data[row.head + j])); }
  return out;
}
template <int axis, bool in_rows, class T, class S, int R, int k> Arr<T, R + 1> stacked(
    const Ref<List<Arr<S, R>, k>>& l) {
  if (!l->n) bail(EMPTY);
  I size[R + 1]; for (int d = 0; d <= R; ++d) size[d] = d == axis ? l->n : l->at(0).size[d - (d > axis)];
  Arr<T, R + 1> out = array_of<T, R + 1>(size);
  for (I i = 0; i < l->n; ++i) { const auto& row = l->at(i); Arr<T, R> to = pick<axis>(out, i);
      for (int d = 0; d < R; ++d) if (row.size[d] != to.size[d]) bail(KIND);
      assign(to, row); out.base->is_in_columns |= !in_rows && in_columns(row); }
  return out;
}
// arrays one behind the other along a dimension
template <int axis, class T, int R, int k> Arr<T, R> joined(const Ref<List<Arr<T, R>, k>>& l) {
  if (!l->n) bail(EMPTY);
  I size[R]; for (int d = 0; d < R; ++d) size[d] = l->at(0).size[d];
  bool columns = false;
  for (I i = 0; i < l->n; ++i) { const auto& one = l->at(i); columns |= in_columns(one);
      if (i) size[axis] += one.size[axis];
      for (int d = 0; d < R; ++d) if (d != axis && one.size[d] != size[d]) bail(KIND); }
  Arr<T, R> out = array_of<T, R>(size);
  I from = 0;
  for (I i = 0; i < l->n; ++i) { const auto& one = l->at(i); I count = one.size[axis];
      assign(cut_of<axis>(out, Cut{from, 1, count}), one); from += count; }
  out.base->is_in_columns = columns;
  return out;
}
template <int axis, class T, int R> Arr<T, R> without(const Arr<T, R>& a, I place_) {
  I at_ = place(place_, a.size[axis]), size[R];
  for (int d = 0; d < R; ++d) size[d] = a.size[d] - (d == axis);
  Arr<T, R> out = array_of<T, R>(size);
  assign(cut_of<axis>(out, Cut{0, 1, at_}), cut_of<axis>(a, Cut{0, 1, at_}));
  I rest = size[axis] - at_;
  assign(cut_of<axis>(out, Cut{at_, 1, rest}), cut_of<axis>(a, Cut{at_ + 1, 1, rest}));
  out.base->is_in_columns = in_columns(a);
  return out;
}
template <int Q, class T, int R> Arr<T, Q> reshaped(const Arr<T, R>& a, const I (&sizes)[Q]) {
  if (a.base->is_turned || a.base->is_in_columns || !is_packed(a)) bail(KIND);
  Arr<T, Q> out; out.base = a.base; out.p = a.p;
  I known = 1, n = count_of(a), step = 1; int open = -1;
  for (int d = 0; d < Q; ++d) { if (sizes[d] < 0) { if (sizes[d] != -1 || open >= 0) bail(KIND); open = d; }
      else known = times(known, sizes[d]); out.size[d] = sizes[d]; }
  if (open >= 0) { if (!known || n % known) bail(KIND); out.size[open] = n / known; }
  else if (known != n) bail(KIND);
  for (int d = Q - 1; d >= 0; --d) { out.step[d] = step; step *= out.size[d]; }
  return out;
}
template <class T, class S, int k, class Fill> Arr<T, 2> rows_from(const Ref<List<S, k>>& l, I count, Fill fill) {
  I size[2] = {l->n, count}; Arr<T, 2> out = array_of<T, 2>(size);
  for (I i = 0; i < l->n; ++i) fill(l->data[l->head + i], out.p + i * count);
  return out;
}

// what no array has
template <class T, int R> bool truth(const Arr<T, R>&) { bail(KIND); }
template <class T, int R> bool eq(const Arr<T, R>&, const Arr<T, R>&) { bail(KIND); }
template <class T, int R> bool lt(const Arr<T, R>&, const Arr<T, R>&) { bail(KIND); }
template <class T, int R> bool le(const Arr<T, R>&, const Arr<T, R>&) { bail(KIND); }
template <class T, int R> void orderly(const Arr<T, R>&) { bail(KIND); }

// ---- folds, in NumPy's order
template <class T> T pairwise(const T* p, I n, I s) {
  if (n < 8) { T r = (T)-0.0; for (I i = 0; i < n; ++i) r += p[i * s]; return r; }
  if (n > 128) { I half = n / 2; half -= half % 8; return pairwise(p, half, s) + pairwise(p + half * s, n - half, s); }
  T r[8]; for (int k = 0; k < 8; ++k) r[k] = p[k * s];
  I i = 8;
  for (; i < n - n % 8; i += 8) for (int k = 0; k < 8; ++k) r[k] += p[(i + k) * s];
  T all = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  for (; i < n; ++i) all += p[i * s];
  return all;
}
template <class T, int R> T sum_of_floats(const Arr<T, R>& a) {
  T r = 0;
  if (R == 1) { if (a.step[0] < 0) bail(KIND); r += pairwise(a.p, a.size[0], a.step[0]); }
  else { if (!is_packed(a) || a.base->is_turned || a.base->is_in_columns) bail(KIND);
      r += pairwise(a.p, count_of(a), 1); }
  if (!isfinite(r)) each(a, [&](T v) { if (!isfinite(v)) bail(DOMAIN); });
  return quiet(r, (T)0, (T)0);
}
// of each row, or of each column, of a table
template <int axis, class T> Arr<T, 1> sums_along(const Arr<T, 2>& a) {
  if (in_columns(a) || a.base->is_turned || a.step[0] < 0 || a.step[1] < 0) bail(KIND);
  I size[1] = {a.size[1 - axis]}, count = a.size[axis], over_ = a.step[1 - axis], along = a.step[axis];
  Arr<T, 1> out = array_of<T, 1>(size); fill(out, T(0));
  if (axis == 1 || size[0] == 1) for (I k = 0; k < size[0]; ++k) out.p[k] += pairwise(a.p + k * over_, count, along);
  else for (I j = 0; j < count; ++j) for (I k = 0; k < size[0]; ++k) out.p[k] += a.p[j * along + k * over_];
  for (I k = 0; k < size[0]; ++k) if (!isfinite(out.p[k])) bail(DOMAIN);
  return out;
}
template <int axis, class O, class T, class Fn> Arr<O, 1> folded_along(const Arr<T, 2>& a, Fn f) {
  I size[1] = {a.size[1 - axis]}; Arr<O, 1> out = array_of<O, 1>(size);
  for (I k = 0; k < size[0]; ++k) out.p[k] = f(pick<1 - axis>(a, k));
  return out;
}
template <int axis, class T> Arr<T, 2> kept_along(const Arr<T, 1>& a) {
  Buf<T>& base = *a.base.p; base.rank = 2; base.size[1 - axis] = a.size[0]; base.size[axis] = 1;
  return all_of<T, 2>(a.base); }
static inline F sign_of(F a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a == 0 ? 0.0 : a; }
static inline I sign_of(I a) { return (a > 0) - (a < 0); }
// a number of Python's, or an integer or a double of NumPy's, as a double
static F as_double(Dyn v) {
  if (v.tag == 0 || (v.np && v.np != Dtype<F>::at && v.np != Dtype<I>::at)) bail(KIND);
  return v.real(); }
// the loop over doubles that a function of NumPy's is made of
struct Ufunc { PyObject head; int in, out, every, identity; void (**loops)(char**, const I*, const I*, void*);
    void** data; int n, unused; const char *name, *types; };
static void loop_of_numpy(int which, F* from, F* to, I n) {
  auto* one = (const Ufunc*)PyTuple_GetItem(numpy.all, 13 + which);
  int k = 0, bad = one->in != 1 || one->out != 1 || one->every != 2 || one->n < 1 || one->n > 64;
  while (!bad && (one->types[2 * k] != 12 || one->types[2 * k + 1] != 12)) bad = ++k == one->n;
  if (bad) bail(KIND);
  char* ends[] = {(char*)from, (char*)to}; I steps[] = {sizeof(F), sizeof(F)};
  one->loops[k](ends, &n, steps, one->data[k]);
  for (I at = 0; at < n; ++at) if (!isfinite(to[at]) && (isfinite(from[at]) || (isnan(to[at]) && !isnan(from[at]))))
    bail(DOMAIN);  // NumPy warns
}
static F by_numpy(int which, F a) { F r; loop_of_numpy(which, &a, &r, 1); return r; }
template <int R> Arr<F, R> each_by_numpy(int which, const Arr<F, R>& a) {
  if (!is_packed(a) || a.base->is_turned || a.base->is_in_columns) bail(KIND);
  Arr<F, R> out = array_of<F, R>(a.size); loop_of_numpy(which, a.p, out.p, count_of(a)); return out; }
template <class T, int R> I sum_of_integers(const Arr<T, R>& a) { I r = 0;
    each(a, [&](T v) { r = plus(r, (I)wide(v)); }); return r; }
template <class T> static inline bool is_other_zero(T a, T b) { return b == 0 && signbit((F)a) != signbit((F)b); }
template <class T> static inline void check_order(T a, T b) {
  if (a != a || b != b || (a == 0 && is_other_zero(a, b))) bail(DOMAIN); }
template <class T> static inline T greater_of(T a, T b) { check_order(a, b); return a > b ? a : b; }
template <class T> static inline T less_of(T a, T b) { check_order(a, b); return a < b ? a : b; }
// not of constants, which compilers round by themselves
static inline F length_of(F a, F b) { volatile F side = a; return quiet((F)__builtin_hypot(side, b), a, b); }
template <bool greatest, class T, int R> T extreme_of(const Arr<T, R>& a) {
  T r = T(); bool seen = false;
  each(a, [&](T v) { if (v != v || (seen && v == 0 && is_other_zero(v, r))) bail(DOMAIN);
    if (!seen || (greatest ? v > r : v < r)) r = v; seen = true; });
  if (!seen) bail(EMPTY);
  return r;
}
template <bool greatest, class T, int R> I place_of_extreme(const Arr<T, R>& a) {
  T r = T(); I found = -1, k = 0;
  each(a, [&](T v) { if (v != v) bail(DOMAIN); if (found < 0 || (greatest ? v > r : v < r)) { r = v; found = k; }
      ++k; });
  if (found < 0) bail(EMPTY);
  return found;
}
template <class T, int R> bool any_of(const Arr<T, R>& a) { bool r = false; each(a, [&](T v) { r |= v != 0; });
    return r; }
template <class T, int R> bool all_true(const Arr<T, R>& a) { bool r = true; each(a, [&](T v) { r &= v != 0; });
    return r; }
static Arr<I, 1> counted(I from, I to, I step) {
  I size[1] = {range_size(from, to, step)}; Arr<I, 1> out = array_of<I, 1>(size);
  for (I k = 0; k < size[0]; ++k) out.p[k] = from + k * step;
  return out;
}
static Arr<F, 2> identity(I n) { I size[2] = {n, n}; Arr<F, 2> out = array_of<F, 2>(size); fill(out, F(0));
    for (I k = 0; k < n; ++k) out.p[k * n + k] = 1; return out; }
""".replace("PROMOTED", ", ".join(map(str, _PROMOTED)))
