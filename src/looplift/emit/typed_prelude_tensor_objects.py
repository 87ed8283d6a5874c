"""C++ of typed programs: the caller's tensors in, and those that are handed out."""

HANDED = r"""// ---- the caller's tensors
extern "C" PyObject* PyDict_GetItemString(PyObject*, const char*);
static PyObject* found_in(PyObject* o, const char* name) { PyObject* found = PyDict_GetItemString(o, name);
    if (!found) { PyErr_Clear(); bail(KEY); } return found; }
static PyObject *read_tensor, *make_tensor, *view_tensor, *all_ready, *all_given, *places_found;
// torch's functions that read a tensor without Python, and where in its object it is
static const struct Access { I place; PyTypeObject* kinds[2]; int32_t codes[16];
  int32_t (*data)(void*, void**), (*dtype)(void*, int32_t*), (*device)(void*, int32_t*), (*layout)(void*, int32_t*),
      (*dim)(void*, I*), (*sizes)(void*, const I**), (*strides)(void*, const I**);
  bool (*asks)(const void*), (*negative)(const void*); }* access;
static struct { I count; } outs;
static Tape* last_tape;
static I number(PyObject* o, I k) { return PyLong_AsLongLongAndOverflow(PyTuple_GetItem(o, k), &ignored); }
// whether it was read: a contiguous tensor of this type, on the CPU, that asks for no gradient
template <class T, int R> bool read_at_once(PyObject* o, Ten<T, R>& x) {
  if (!access || (!is(o, *access->kinds[0]) && !is(o, *access->kinds[1]))) return false;
  void *tensor = (char*)o + access->place, *data = nullptr;
  int32_t dtype = -1, device = -1, layout = -1; I rank = -1, n = 1; const I *size = nullptr, *step = nullptr;
  if (access->asks(*(void**)tensor)) return false;
  if (access->device(tensor, &device) || access->layout(tensor, &layout) || device || layout) return false;
  if (access->dtype(tensor, &dtype) || access->dim(tensor, &rank)) return false;
  if (dtype != access->codes[Code<T>::at] || rank != R || access->negative(tensor)) return false;
  if constexpr (R > 0) {
    if (access->sizes(tensor, &size) || access->strides(tensor, &step)) return false;
    for (int k = R - 1; k >= 0; --k) { if (size[k] != 1 && step[k] != n) return false;
        x.size[k] = size[k]; x.step[k] = n; n *= size[k]; }
  }
  if (access->data(tensor, &data) || (n && !data)) return false;
  if constexpr (R == 0 && PICKED) x = Ten<T, 0>(Num<T>{*(T*)data, -1, false});
  else {
    if (PyList_Append(all_given, o)) bail(MEMORY);
    x.b = made<Buf<T>>(); x.b.p->n = n; x.b.p->data = (T*)data; x.b.p->place = (int)PyList_Size(all_given) - 1;
    if constexpr (R > 0) x.itself = true;
  }
  return true;
}
template <class T, int R> struct From<Ten<T, R>> {
  static Ten<T, R> of(PyObject* o) {
    { Ten<T, R> x; if (read_at_once(o, x)) return x; }
    PyObject* found = PyObject_CallFunctionObjArgs(read_tensor, o, nullptr);
    if (!found) { PyErr_Clear(); bail(KIND); }
    keep(found);
    must(is(found, PyTuple_Type) && PyTuple_Size(found) == 4 + R && number(found, 1) == Code<T>::at);
    if constexpr (R == 0 && PICKED) {
      must(!number(found, 2));
      return Ten<T, 0>(Num<T>{*(T*)number(found, 0), -1, false});
    } else return begun(found);
  }
  static Ten<T, R> begun(PyObject* found) {
    Ten<T, R> x; x.b = made<Buf<T>>();
    if constexpr (R > 0) x.itself = true;
    Buf<T>* b = x.b.p; b->n = 1;
    for (int k = R - 1; k >= 0; --k) { if constexpr (R > 0) { x.size[k] = number(found, 4 + k); x.step[k] = b->n;
        b->n *= x.size[k]; } }
    b->data = (T*)number(found, 0); b->place = (int)number(found, 3);
    if (number(found, 2)) {
      if (!TRACKED) bail(KIND);
      if (!b->n) bail(EMPTY);
      b->track(); for (I k = 0; k < b->n; ++k) b->nodes[k] = tape->first + k;
      tape->first += b->n;
    }
    return x;
  }
};
// in the order of the memory
template <class T, int R> static I* handed_nodes(const Ten<T, R>& x) {
  I n = count_of(x), group = x.b.p->beside(n);
  I* nodes = (I*)take(n * sizeof(I)); memcpy(nodes, x.b.p->nodes + x.at, n * sizeof(I));
  if (group > 0) nodes[0] = settled(Num<T>{T(), nodes[0], false, group});
  return nodes;
}
static PyObject* numbers(int count, const I* of) { PyObject* found = PyTuple_New(count);
  for (int k = 0; k < count; ++k) PyTuple_SetItem(found, k, PyLong_FromLongLong(of[k]));
  return found; }
// ``step``: of a tensor whose elements are in another order than that of its dimensions
template <class T> static PyObject* about(const Buf<T>* b, I at, I n, const I* nodes, int rank, const I* size,
    const I* step = nullptr) {
  PyObject* found = keep(PyTuple_New(6));
  PyTuple_SetItem(found, 0, PyLong_FromLongLong((I)(b->data + at)));
  PyTuple_SetItem(found, 1, PyLong_FromLongLong(Code<T>::at));
  PyTuple_SetItem(found, 2, PyLong_FromLongLong((I)nodes));
  PyTuple_SetItem(found, 3, PyLong_FromLongLong(n));
  PyTuple_SetItem(found, 4, numbers(rank, size)); PyTuple_SetItem(found, 5, numbers(step ? rank : 0, step));
  return found;
}
// what PyTorch finds, of a row in which several elements are equal or are no numbers
template <class T> static Ref<List<I, 0>> places_in(const Ten<T, 1>& x, I count, bool down, bool stable) {
  I n = x.size[0];
  T* row = (T*)take((n ? n : 1) * sizeof(T));
  for (I k = 0; k < n; ++k) row[k] = x.b.p->data[x.at + k * x.step[0]];
  const I about[] = {(I)row, Code<T>::at, n, count, down, stable};
  PyObject* given = keep(numbers(6, about));
  PyObject* found = PyObject_CallFunctionObjArgs(places_found, given, nullptr);
  if (!found) { PyErr_Clear(); bail(KIND); }
  keep(found); give(row, (n ? n : 1) * sizeof(T));
  Ref<List<I, 0>> out = made<List<I, 0>>();
  for (I k = 0; k < (I)PyTuple_Size(found); ++k) out->push(number(found, k));
  return out;
}
template <class T> static PyObject* view_of(const Buf<T>* b, I at) {
  PyObject* found = PyObject_CallFunctionObjArgs(view_tensor, keep(PyLong_FromLongLong(b->place)),
      keep(PyLong_FromLongLong(at)), keep(PyLong_FromLongLong(b->detached)), nullptr);
  if (!found) { PyErr_Clear(); bail(KIND); }
  return found;
}
template <class T> static PyObject* object(const Ten<T, 0>& x) {
  if constexpr (PICKED) bail(KIND);
  else {
    if (!is_loose(x)) return handed_out(x);
    Ten<T, 0> boxed; boxed.b = buffer<T>(1); boxed.b.p->put(0, {x.own, x.at, false});
    return handed_out(boxed);
  }
}
template <class T, int R> static PyObject* object(const Ten<T, R>& x) { return handed_out(x); }
// one tensor under two names is one object
template <class T, int R> static PyObject* made_before(const Ten<T, R>& x) {
  const auto& made = x.b.p->made;
  bool same = made.object && made.rank == R && made.at == x.at;
  if constexpr (R > 1) same = same && !memcmp(made.size, x.size, sizeof x.size)
      && !memcmp(made.step, x.step, sizeof x.step);
  return same ? made.object : nullptr;
}
template <int R> static bool is_in_rows(const I (&size)[R], const I (&step)[R]) {
  I n = 1; for (int k = R - 1; k >= 0; --k) { if (step[k] != n) return false; n *= size[k]; }
  return true;
}
// whether elements follow one another without gaps, in any order of the dimensions
template <int R> static bool is_dense(const I (&size)[R], const I (&step)[R]) {
  I reach = 1; bool seen[R] = {};
  for (int left = R; left; --left) {
    int next = -1;
    for (int k = 0; k < R; ++k) if (!seen[k] && (next < 0 || (size[k] == 1 ? 0 : step[k])
        < (size[next] == 1 ? 0 : step[next]))) next = k;
    if (size[next] > 1 && step[next] != reach) return false;
    reach *= size[next]; seen[next] = true;
  }
  return true;
}
template <class T, int R> static PyObject* handed_out(const Ten<T, R>& x) {
  Buf<T>* b = x.b.p;
  if (!b) bail(UNBOUND);
  if (R == 0 && b->place >= 0) {
    if (TRACKED && b->dirty && b->nodes) bail(KIND);  // it would be older than the change
    return view_of(b, x.at);
  }
  if constexpr (R > 0) if (x.itself) return view_of(b, -1);
  if (b->place >= 0) bail(KIND);
  const I *size = nullptr, *step = nullptr;
  if constexpr (R > 0) {
    if (x.at || count_of(x) != b->n || !b->n || !is_dense(x.size, x.step)) bail(KIND);
    size = x.size; step = is_in_rows(x.size, x.step) ? nullptr : x.step;
  }
  if (PyObject* o = made_before(x)) {
    if (R ? b->viewed : b->n != 1) bail(KIND);  // it may be another view, which is an object of its own
    Py_IncRef(o); return o; }
  if (b->handed) bail(KIND);
  b->handed = true;
  I* nodes = TRACKED && b->nodes ? handed_nodes(x) : nullptr;
  if (nodes) ++outs.count;
  PyObject* o = PyObject_CallFunctionObjArgs(make_tensor, about(b, x.at, R ? b->n : 1, nodes, R, size, step), nullptr);
  if (!o) return o;
  Py_IncRef(o);
  b->made.object = keep(o); b->made.rank = R; b->made.at = x.at;
  if constexpr (R > 1) { b->made.size = (I*)take(sizeof x.size); memcpy(b->made.size, x.size, sizeof x.size);
      b->made.step = (I*)take(sizeof x.step); memcpy(b->made.step, x.step, sizeof x.step); }
  return o;
}
template <class T> static PyObject* about_written(void* of) {
  Buf<T>* b = (Buf<T>*)of; Ten<T, 1> x; x.b = Ref<Buf<T>>(b); ++b->refs; x.size[0] = b->n; x.step[0] = 1;
  I* nodes = TRACKED && b->nodes && b->n ? handed_nodes(x) : nullptr;
  if (nodes) ++outs.count;
  PyObject* made = keep(PyObject_CallFunctionObjArgs(make_tensor, about(b, 0, b->n, nodes, 1, &b->n), nullptr));
  PyObject* pair = keep(PyTuple_New(2));
  PyTuple_SetItem(pair, 0, PyLong_FromLongLong(b->place)); Py_IncRef(made); PyTuple_SetItem(pair, 1, made);
  Py_IncRef(pair); return pair;
}
// what was written, and whether it may be put where it belongs
static void ready() {
  PyObject* all = keep(PyTuple_New(written.count));
  for (I k = 0; k < written.count; ++k) PyTuple_SetItem(all, k, written.of[k].about(written.of[k].buffer));
  PyObject* holds = keep(PyObject_CallFunctionObjArgs(all_ready, all, nullptr));
  if (holds != &_Py_TrueStruct) bail(KIND);
}
template <class N, class T> struct From<Either<N, T>> { static Either<N, T> of(PyObject* o) {
  bool plain = is(o, PyFloat_Type) || is(o, PyLong_Type) || is(o, PyBool_Type);
  return plain ? As<Either<N, T>>::of(From<N>::of(o)) : As<Either<N, T>>::of(From<T>::of(o)); } };
template <class N, class T> bool truth(const Either<N, T>& v) { return v.plain ? truth(v.n) : truth(v.t); }
template <class N, class T> PyObject* object(const Either<N, T>& v) { return v.plain ? py(v.n) : py(v.t); }
// ---- calls of the library's own functions, which get copies
extern "C" { PyObject* PyObject_CallObject(PyObject*, PyObject*); int PyErr_ExceptionMatches(PyObject*);
    extern PyObject* PyExc_Exception; }
static PyObject *library_call, *read_result;
// one call in the text: the tensors that its operands are copied to, as long as their sizes are the same
struct Site { I place, n; PyObject *function, *found; I sizes[32]; char* data[8]; I bytes[8]; };
template <int place> static Site& site_of() { static Site site = {place, 0, nullptr, nullptr, {}, {}, {}};
    return site; }
template <class T, int R> static bool fits(const Site& site, int k, I*& at, const Ten<T, R>& x) {
  I n = sizeof(T);
  if constexpr (R > 0) for (int d = 0; d < R; ++d) { if (*at++ != x.size[d]) return false; n *= x.size[d]; }
  return site.bytes[k] == n;
}
template <class T, int R> static PyObject* kind_of(I*& at, I& bytes, const Ten<T, R>& x) {
  PyObject* kind = PyTuple_New(1 + R); bytes = sizeof(T);
  if (!kind) { PyErr_Clear(); bail(MEMORY); }
  PyTuple_SetItem(kind, 0, PyLong_FromLongLong(Code<T>::at));
  if constexpr (R > 0) for (int d = 0; d < R; ++d) { *at++ = x.size[d]; bytes *= x.size[d];
      PyTuple_SetItem(kind, 1 + d, PyLong_FromLongLong(x.size[d])); }
  return kind;
}
static PyObject* must_be_made(PyObject* found) {
  if (found) return found;
  if (!PyErr_ExceptionMatches(PyExc_Exception)) bail(INTERRUPTED);
  PyErr_Clear(); bail(KIND);
}
template <class... X> static void renew(Site& site, const X&... x) {
  site.n = -1; I *at = site.sizes; int k = 0;
  PyObject* kinds = keep(PyTuple_New(sizeof...(X)));
  (void)(int[]){0, (PyTuple_SetItem(kinds, k, kind_of(at, site.bytes[k], x)), ++k)...};
  PyObject* made = keep(must_be_made(PyObject_CallFunctionObjArgs(library_call, keep(PyLong_FromLongLong(site.place)),
      kinds, nullptr)));
  if (site.function) Py_DecRef(site.function);
  site.function = PyTuple_GetItem(made, 0); Py_IncRef(site.function);
  for (k = 0; k < (int)sizeof...(X); ++k) site.data[k] = (char*)number(made, 1 + k);
  site.n = sizeof...(X);
}
template <class T, int R> static void elements_of(const Ten<T, R>& x, T* to) {
  if constexpr (R == 0) *to = val(x).v;
  else each(x, [&](I at) { *to++ = x.b.p->data[at]; });
}
template <class T, int R> static inline void check_there(const Ten<T, R>& x) {
    if (!is_loose(x) && !x.b.p) bail(UNBOUND); }
template <int place, class... X> static Site& called(PyObject** numbers, I count, const X&... x) {
  Site& site = site_of<place>();
  (void)(int[]){0, (check_there(x), 0)...};
  I* at = site.sizes; int k = 0; bool same = site.function && site.n == (I)sizeof...(X);
  (void)(int[]){0, (same = same && fits(site, k++, at, x), 0)...};
  if (!same) renew(site, x...);
  k = 0; (void)(int[]){0, (elements_of(x, (typename X::type*)site.data[k++]), 0)...};
  PyObject* given = PyTuple_New(count);
  for (I j = 0; j < count; ++j) PyTuple_SetItem(given, j, numbers[j]);
  if (site.found) Py_DecRef(site.found);
  site.found = PyObject_CallObject(site.function, given); Py_DecRef(given);
  must_be_made(site.found);
  return site;
}
template <int R> struct Result { void* data; I size[R + 1], step[R + 1]; };
// whether a result was read without Python
template <class T, int R> static bool made_at_once(PyObject* o, Result<R>& made) {
  if (!access || !is(o, *access->kinds[0])) return false;
  void* tensor = (char*)o + access->place;
  int32_t dtype = -1, device = -1, layout = -1; I rank = -1; const I *size = nullptr, *step = nullptr;
  if (access->asks(*(void**)tensor) || access->negative(tensor)) return false;
  if (access->device(tensor, &device) || access->layout(tensor, &layout) || device || layout) return false;
  if (access->dtype(tensor, &dtype) || access->dim(tensor, &rank)) return false;
  if (dtype != access->codes[Code<T>::at] || rank != R) return false;
  if (access->sizes(tensor, &size) || access->strides(tensor, &step)) return false;
  for (int k = 0; k < R; ++k) { made.size[k] = size[k]; made.step[k] = step[k]; }
  return !access->data(tensor, &made.data);
}
template <class T, int R> static Result<R> made_of(PyObject* o) {
  Result<R> made;
  if (made_at_once<T, R>(o, made)) return made;
  PyObject* about = keep(must_be_made(PyObject_CallFunctionObjArgs(read_result, o, nullptr)));
  must(PyTuple_Size(about) == 2 + 2 * R && number(about, 1) == Code<T>::at);
  made.data = (void*)number(about, 0);
  for (int k = 0; k < R; ++k) { made.size[k] = number(about, 2 + k); made.step[k] = number(about, 2 + R + k); }
  return made;
}
static PyObject* item_of(const Site& site, I k, I count) {
  if (!count) return site.found;
  if (PyTuple_Size(site.found) != count) { PyErr_Clear(); bail(KIND); }
  return PyTuple_GetItem(site.found, k);
}
template <class T, int R> static Ten<T, R> result_at(const Site& site, I k, I count) {
  Result<R> made = made_of<T, R>(item_of(site, k, count));
  for (I j = 0; j < site.n; ++j)  // a view of an operand
    if ((char*)made.data >= site.data[j] && (char*)made.data < site.data[j] + site.bytes[j]) bail(KIND);
  if constexpr (R == 0) return Ten<T, 0>(Num<T>{*(T*)made.data, -1, false});
  else {
    Ten<T, R> out = fresh_ten<T, R>(made.size); row_made(count_of(out));
    I n = 1, index[R] = {}, all = count_of(out); const T* from = (const T*)made.data; bool in_order = true;
    for (int d = R - 1; d >= 0; --d) { in_order &= made.size[d] == 1 || made.step[d] == n; n *= made.size[d]; }
    if (all && in_order) memcpy(out.b.p->data, from, all * sizeof(T));
    else for (I j = 0; j < all; ++j) {
      out.b.p->data[j] = *from;
      for (int d = R - 1; d >= 0; --d) { from += made.step[d]; if (++index[d] < made.size[d]) break;
          from -= made.step[d] * made.size[d]; index[d] = 0; }
    }
    out.b.p->handed = !in_order;  // the loop would hand it out in another order of its elements
    return out;
  }
}
static void begin_calls(PyObject* args, I at) { library_call = PyTuple_GetItem(args, at);
    read_result = PyTuple_GetItem(args, at + 1); }
static void begin_tensors(PyObject* args, I count) {
  read_tensor = PyTuple_GetItem(args, count); make_tensor = PyTuple_GetItem(args, count + 1);
  view_tensor = PyTuple_GetItem(args, count + 2); all_ready = PyTuple_GetItem(args, count + 3);
  all_given = PyTuple_GetItem(args, count + 4); access = (const Access*)number(args, count + 5);
  places_found = PyTuple_GetItem(args, count + 6);
  memset(&written, 0, sizeof written);
  outs.count = 0; pending_n = 0; next_holds = {}; memset(held_bits, 0, sizeof held_bits);
  tape = nullptr;
  if (TRACKED) { tape = (Tape*)calloc(1, sizeof(Tape)); if (!tape) bail(MEMORY); tape->first = 1; }
}
static void end_tensors(bool found) {
  last_tape = found && outs.count ? tape : nullptr;
  if (tape && !last_tape) free_tape(tape);
  tape = nullptr;
}
// until it is taken no other thread may start
extern "C" Tape* taken_tape() { Tape* one = last_tape; last_tape = nullptr; return one; }
extern "C" I is_held(I k) { return k >= 64 * 63 || (held_bits[k >> 6] >> (k & 63) & 1); }
"""
