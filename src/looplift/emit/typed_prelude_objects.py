"""C++ of typed programs: Python's objects to values, and values to objects."""

OBJECTS = r"""// ---- Python's objects, by the functions of its C API
struct PyObject { intptr_t refs; void* type; };
struct PyTypeObject;
extern "C" {
  extern struct PyTypeObject PyLong_Type, PyFloat_Type, PyBool_Type, PyUnicode_Type, PyList_Type, PyTuple_Type,
    PyDict_Type, PySet_Type, PyBytes_Type, PyByteArray_Type;
  extern PyObject _Py_NoneStruct, _Py_TrueStruct, _Py_FalseStruct;
  void Py_IncRef(PyObject*); void Py_DecRef(PyObject*);
  I PyList_Size(PyObject*); PyObject* PyList_GetItem(PyObject*, I); PyObject* PyList_New(I);
    int PyList_SetItem(PyObject*, I, PyObject*); int PyList_SetSlice(PyObject*, I, I, PyObject*);
    int PyList_Append(PyObject*, PyObject*);
  I PyTuple_Size(PyObject*); PyObject* PyTuple_GetItem(PyObject*, I); PyObject* PyTuple_New(I);
    int PyTuple_SetItem(PyObject*, I, PyObject*);
  I PyLong_AsLongLongAndOverflow(PyObject*, int*); PyObject* PyLong_FromLongLong(long long);
  F PyFloat_AsDouble(PyObject*); PyObject* PyFloat_FromDouble(F);
  I PyUnicode_GetLength(PyObject*); uint32_t* PyUnicode_AsUCS4(PyObject*, uint32_t*, I, int);
    PyObject* PyUnicode_FromKindAndData(int, const void*, I);
  int PyDict_Next(PyObject*, I*, PyObject**, PyObject**); PyObject* PyDict_New();
    int PyDict_SetItem(PyObject*, PyObject*, PyObject*); void PyDict_Clear(PyObject*);
  PyObject* PySet_New(PyObject*); int PySet_Add(PyObject*, PyObject*); PyObject* PyObject_GetIter(PyObject*);
    PyObject* PyIter_Next(PyObject*);
  int PyBytes_AsStringAndSize(PyObject*, char**, I*); char* PyByteArray_AsString(PyObject*);
    I PyByteArray_Size(PyObject*); PyObject* PyBytes_FromStringAndSize(const char*, I);
  PyObject* PyObject_CallFunctionObjArgs(PyObject*, ...);
    PyObject* PyObject_CallMethod(PyObject*, const char*, const char*, ...);
    PyObject* PyObject_GetAttrString(PyObject*, const char*);
  PyObject* PyErr_Occurred(); void PyErr_Clear(); void PyErr_SetString(PyObject*, const char*);
  char* PyOS_double_to_string(F, char, int, int, int*); void PyMem_Free(void*);
    F PyOS_string_to_double(const char*, char**, PyObject*);
}
struct Given { PyObject* object; void* box; const void* kind; void (*commit)(PyObject*, void*, PyObject**);
    PyObject* fresh; bool fixed; };  // fixed: nothing may have changed it
static struct { Given* known; I n, room; I* table; I slots; PyObject *error, *deque; PyObject** kept;
    I kept_n, kept_room; } given;
static Given* given_of(PyObject* o) {
  if (!given.slots) return nullptr;
  for (U s = hash_of((I)o) & (given.slots - 1); given.table[s]; s = (s + 1) & (given.slots - 1)) {
      Given* g = given.known + given.table[s] - 1; if (g->object == o) return g; }
  return nullptr;
}
static void give_in(PyObject* o, void* box, const void* kind, void (*commit)(PyObject*, void*, PyObject**)) {
  if (given.n == given.room) {
    I room = given.room ? 2 * given.room : 16;
    Given* known = (Given*)take(room * sizeof(Given));
    if (given.n) memcpy(known, given.known, given.n * sizeof(Given));
    given.known = known; given.room = room; given.slots = 2 * room;
    given.table = (I*)take(given.slots * sizeof(I)); memset(given.table, 0, given.slots * sizeof(I));
    for (I k = 0; k < given.n; ++k) { U s = hash_of((I)known[k].object) & (given.slots - 1);
        while (given.table[s]) s = (s + 1) & (given.slots - 1); given.table[s] = k + 1; }
  }
  given.known[given.n++] = {o, box, kind, commit, nullptr, false};
  U s = hash_of((I)o) & (given.slots - 1); while (given.table[s]) s = (s + 1) & (given.slots - 1);
      given.table[s] = given.n;
}
static PyObject* keep(PyObject* o) {
  if (!o) { PyErr_Clear(); bail(MEMORY); }
  if (given.kept_n == given.kept_room) {
    I room = given.kept_room ? 2 * given.kept_room : 16;
    PyObject** kept = (PyObject**)take(room * sizeof(PyObject*));
    if (given.kept_n) memcpy(kept, given.kept, given.kept_n * sizeof(PyObject*));
    given.kept = kept; given.kept_room = room;
  }
  return given.kept[given.kept_n++] = o;
}
template <class T> struct Tag { static inline const char at = 0; };
static inline bool is(PyObject* o, PyTypeObject& type) { return o->type == &type; }
static inline void must(bool holds) { if (__builtin_expect(!holds, 0)) bail(KIND); }
template <class T> struct From;
template <> struct From<I> { static I of(PyObject* o) { must(is(o, PyLong_Type)); int over = 0;
    I v = PyLong_AsLongLongAndOverflow(o, &over); if (over) bail(OVERFLOW); return v; } };
template <> struct From<F> { static F of(PyObject* o) { must(is(o, PyFloat_Type)); return PyFloat_AsDouble(o); } };
template <> struct From<bool> { static bool of(PyObject* o) { must(is(o, PyBool_Type));
    return o == &_Py_TrueStruct; } };
template <> struct From<None_> { static None_ of(PyObject* o) { must(o == &_Py_NoneStruct); return None_(); } };
static Dyn numpy_number(PyObject* o);
template <> struct From<Dyn> { static Dyn of(PyObject* o) { if (is(o, PyFloat_Type)) return From<F>::of(o);
    if (is(o, PyBool_Type)) return From<bool>::of(o); if (is(o, PyLong_Type)) return From<I>::of(o);
    return numpy_number(o); } };
template <> struct From<Str> { static Str of(PyObject* o) {
  must(is(o, PyUnicode_Type)); I n = PyUnicode_GetLength(o); Str s = str_of(n);
  if (n && !PyUnicode_AsUCS4(o, s.data(), n, 0)) { PyErr_Clear(); bail(KIND); }
  return s;
} };
template <> struct From<Worded> { static Worded of(PyObject* o) {
  return is(o, PyUnicode_Type) ? Worded(From<Str>::of(o)) : Worded(From<Dyn>::of(o)); } };
template <class T> struct From<Opt<T>> { static Opt<T> of(PyObject* o) { if (o == &_Py_NoneStruct) return Opt<T>();
    return Opt<T>(From<T>::of(o)); } };
template <class T> PyObject* py(const T& v);
static inline PyObject* object(I v) { return PyLong_FromLongLong(v); }
static inline PyObject* object(F v) { return PyFloat_FromDouble(v); }
static inline PyObject* object(bool v) { PyObject* o = v ? &_Py_TrueStruct : &_Py_FalseStruct; Py_IncRef(o);
    return o; }
static inline PyObject* object(None_) { Py_IncRef(&_Py_NoneStruct); return &_Py_NoneStruct; }
static PyObject* object_of_numpy(Dyn v);
static PyObject* object(Dyn v) { if (v.np) return object_of_numpy(v);
    return v.tag == 2 ? object(v.d) : v.tag ? object(v.i) : object((bool)v.i); }
static PyObject* object(const Str& v) { static const uint32_t none = 0;
    return PyUnicode_FromKindAndData(4, v.n() ? v.data() : &none, v.n()); }
static PyObject* object(const Worded& v) { return v.is_text ? object(v.s) : object(v.d); }
template <class T> PyObject* object(const Opt<T>& v) { return v.has ? py(v.v) : object(None_()); }
template <class T> PyObject* py(const T& v) { PyObject* o = object(v); if (!o) { PyErr_Clear(); bail(MEMORY); }
    return o; }
// what is as it was keeps its object
static bool holds(PyObject* o, I v) { int over = 0; return is(o, PyLong_Type) && PyLong_AsLongLongAndOverflow(o,
    &over) == v && !over; }
static bool holds(PyObject* o, F v) { if (!is(o, PyFloat_Type)) return false; F w = PyFloat_AsDouble(o);
    return !memcmp(&v, &w, 8); }
static bool holds(PyObject* o, Dyn v) { if (v.np) return false;
    return v.tag == 2 ? holds(o, v.d) : v.tag ? holds(o, v.i) : false; }
static bool holds(PyObject* o, const Worded& v) { return !v.is_text && holds(o, v.d); }
template <class T> bool holds(PyObject*, const T&) { return false; }
template <class T> PyObject* item(PyObject* old, const T& v) { if (old && holds(old, v)) { Py_IncRef(old);
    return old; } return py(v); }
// twice: what goes into an object of the caller's is made first, and put there once all is made
template <class L> void commit_list(PyObject* o, void* box, PyObject** fresh) {
  L* l = (L*)box;
  if (!l->dirty) return;
  I n = PyList_Size(o);
  if (*fresh) { PyList_SetSlice(o, 0, n, *fresh); return; }
  *fresh = keep(PyList_New(l->n));
  for (I k = 0; k < l->n; ++k) PyList_SetItem(*fresh, k, item(k < n ? PyList_GetItem(o, k) : nullptr,
      l->data[l->head + k]));
}
template <class L> void commit_deque(PyObject* o, void* box, PyObject** fresh) {
  L* l = (L*)box;
  if (!l->dirty) return;
  if (*fresh) { keep(PyObject_CallMethod(o, "clear", nullptr));
      keep(PyObject_CallMethod(o, "extend", "O", *fresh)); return; }
  *fresh = keep(PyList_New(l->n));
  for (I k = 0; k < l->n; ++k) PyList_SetItem(*fresh, k, py(l->data[l->head + k]));
}
template <class D> void commit_dict(PyObject* o, void* box, PyObject** fresh) {
  D* d = (D*)box;
  if (!d->dirty) return;
  d->in_order();
  if (*fresh) {
    if (d->removed) PyDict_Clear(o);
    I at_ = 0; PyObject *key, *value;
    while (PyDict_Next(*fresh, &at_, &key, &value)) PyDict_SetItem(o, key, value);
    return;
  }
  *fresh = keep(PyDict_New());
  for (I k = 0; k < d->used; ++k) if (d->entries[k].live) { PyObject* key = keep(py(d->entries[k].key));
      PyDict_SetItem(*fresh, key, keep(py(d->entries[k].value))); }
}
template <class D> void commit_set(PyObject* o, void* box, PyObject** fresh) {
  D* d = (D*)box;
  if (!d->dirty) return;
  if (*fresh) { for (I k = 0; k < PyList_Size(*fresh); ++k) PySet_Add(o, PyList_GetItem(*fresh, k)); return; }
  *fresh = keep(PyList_New(d->used - d->given));
  for (I k = d->given; k < d->used; ++k) PyList_SetItem(*fresh, k - d->given, py(d->entries[k].key));
}
template <class B> Ref<B> again(Given* g) { if (g->kind != &Tag<B>::at) bail(KIND); ((B*)g->box)->refs++;
    return Ref<B>((B*)g->box); }
template <class B> Ref<B> begun(PyObject* o, void (*commit)(PyObject*, void*, PyObject**)) {
    Ref<B> out = made<B>(); out->from = o; out->refs++; give_in(o, out.p, &Tag<B>::at, commit); return out; }
template <class T> struct From<Ref<List<T, 0>>> { typedef List<T, 0> L; static Ref<L> of(PyObject* o) {
  must(is(o, PyList_Type));
  if (Given* g = given_of(o)) return again<L>(g);
  Ref<L> out = begun<L>(o, commit_list<L>); I n = PyList_Size(o); out->reserve(n);
  for (I k = 0; k < n; ++k) out->add(From<T>::of(PyList_GetItem(o, k)));
  return out;
} };
template <class T> struct From<Ref<List<T, 1>>> { typedef List<T, 1> L; static Ref<L> of(PyObject* o) {
  must(o->type == (void*)given.deque);
  if (Given* g = given_of(o)) return again<L>(g);
  PyObject* most = keep(PyObject_GetAttrString(o, "maxlen"));
  Ref<L> out = begun<L>(o, commit_deque<L>); PyObject* items = keep(PyObject_GetIter(o));
  while (PyObject* one = PyIter_Next(items)) { keep(one); out->reserve(1); out->add(From<T>::of(one)); }
  if (most != &_Py_NoneStruct) out->most = From<I>::of(most);
  return out;
} };
template <int kind> struct FromBytes { typedef List<I, kind> L; static Ref<L> of(PyObject* o) {
  char* text; I n;
  if (kind == 2) { must(is(o, PyBytes_Type)); PyBytes_AsStringAndSize(o, &text, &n); } else {
      must(is(o, PyByteArray_Type)); text = PyByteArray_AsString(o); n = PyByteArray_Size(o); }
  if (Given* g = given_of(o)) return again<L>(g);
  Ref<L> out = begun<L>(o, nullptr); out->reserve(n);
  for (I k = 0; k < n; ++k) out->add((I)(unsigned char)text[k]);
  return out;
} };
template <> struct From<Ref<List<I, 2>>> : FromBytes<2> {};
template <> struct From<Ref<List<I, 3>>> : FromBytes<3> {};
template <class K, class V> struct From<Ref<Dict<K, V, 0>>> { typedef Dict<K, V, 0> D; static Ref<D> of(PyObject* o) {
  must(is(o, PyDict_Type));
  if (Given* g = given_of(o)) return again<D>(g);
  Ref<D> out = begun<D>(o, commit_dict<D>); I at_ = 0; PyObject *key, *value;
  while (PyDict_Next(o, &at_, &key, &value)) out->set(From<K>::of(key), From<V>::of(value));
  out->dirty = false; out->given = out->used; return out;
} };
template <class K> struct From<Ref<Set<K>>> { typedef Set<K> D; static Ref<D> of(PyObject* o) {
  must(is(o, PySet_Type));
  if (Given* g = given_of(o)) return again<D>(g);
  Ref<D> out = begun<D>(o, commit_set<D>); PyObject* items = keep(PyObject_GetIter(o));
  while (PyObject* one = PyIter_Next(items)) { keep(one); out->add(From<K>::of(one)); }
  out->dirty = false; out->given = out->used; return out;
} };
template <class B> PyObject* told(const Ref<B>& b, PyObject* o) { b.p->from = keep(o); Py_IncRef(o); b.p->refs++;
    return o; }
template <class B> PyObject* known(const Ref<B>& b) { if (!b.p) bail(UNBOUND); if (b.p->from) Py_IncRef(b.p->from);
    return b.p->from; }
template <class T> PyObject* object(const Ref<List<T, 0>>& v) {
  if (PyObject* o = known(v)) return o;
  PyObject* o = PyList_New(v->n); if (!o) return o;
  told(v, o);
  for (I k = 0; k < v->n; ++k) PyList_SetItem(o, k, py(v->data[v->head + k]));
  return o;
}
template <class T> PyObject* object(const Ref<List<T, 1>>& v) {
  if (PyObject* o = known(v)) return o;
  PyObject* fresh = keep(PyList_New(v->n));
  for (I k = 0; k < v->n; ++k) PyList_SetItem(fresh, k, py(v->data[v->head + k]));
  PyObject* most = v->most < 0 ? nullptr : keep(py(v->most));
  PyObject* o = PyObject_CallFunctionObjArgs(given.deque, fresh, most, nullptr); if (!o) return o;
  return told(v, o);
}
template <class T> PyObject* object(const Ref<List<T, 4>>& v) {
  if (PyObject* o = known(v)) return o;
  PyObject* o = keep(PyTuple_New(v->n));  // that nobody else holds while it is filled
  for (I k = 0; k < v->n; ++k) PyTuple_SetItem(o, k, py(v->data[v->head + k]));
  v.p->from = o; v.p->refs++; Py_IncRef(o);
  return o;
}
static PyObject* object(const Ref<List<I, 2>>& v) {
  if (PyObject* o = known(v)) return o;
  char* text = (char*)take(v->n + 1);
  for (I k = 0; k < v->n; ++k) text[k] = (char)v->data[v->head + k];
  PyObject* o = PyBytes_FromStringAndSize(text, v->n); give(text, v->n + 1); if (!o) return o;
  return told(v, o);
}
static PyObject* object(const Ref<List<I, 3>>& v) { PyObject* o = known(v); if (!o) bail(KIND); return o; }
template <class K, class V> PyObject* object(const Ref<Dict<K, V, 0>>& v) {
  if (PyObject* o = known(v)) return o;
  v->in_order();
  PyObject* o = PyDict_New(); if (!o) return o;
  told(v, o);
  for (I k = 0; k < v->used; ++k) if (v->entries[k].live) { PyObject* key = keep(py(v->entries[k].key));
      PyDict_SetItem(o, key, keep(py(v->entries[k].value))); }
  return o;
}
template <class K> PyObject* object(const Ref<Set<K>>& v) {
  if (PyObject* o = known(v)) return o;
  if (v->removed) bail(KIND);
  PyObject* o = PySet_New(nullptr); if (!o) return o;
  told(v, o);
  for (I k = 0; k < v->used; ++k) PySet_Add(o, keep(py(v->entries[k].key)));
  return o;
}
static Str text(I v) { char buffer[24]; char* at_ = buffer + 23; *at_ = 0; U u = v < 0 ? 0 - (U)v : (U)v; do {
    *--at_ = '0' + u % 10; u /= 10; } while (u); if (v < 0) *--at_ = '-'; return str_from(at_); }
static Str text(F v) { char* found = PyOS_double_to_string(v, 'r', 0, 2, nullptr); if (!found) { PyErr_Clear();
    bail(MEMORY); } Str s = str_from(found); PyMem_Free(found); return s; }
static Str text(bool v) { return str_from(v ? "True" : "False"); }
static Str text(None_) { return str_from("None"); }
static Str text(Dyn v) { if (v.np && v.tag == 2) bail(KIND);
    return v.tag == 2 ? text(v.d) : v.tag ? text(v.i) : text((bool)v.i); }
static inline const Str& text(const Str& v) { return v; }
template <class T> Str text(const Opt<T>& v) { return v.has ? text(v.v) : text(None_()); }
"""
