"""C++ of typed programs: small tensors as views of buffers, and a tape of what was computed from what."""

TAPE = r"""// ---- the tape: what each number that asks for a gradient was made of, with the slopes (Wengert, 1964)
struct Edge { I parent; F slope; };  // a negative parent is reached, and gets nothing
// The caller's tensors that a node's slopes are made of, which must not change: their places plus one.
struct Holds { unsigned short of[2]; void add(I place) { unsigned short one = place < ANY ? place + 1 : ANY;
    if (!of[0] || of[0] == one) of[0] = one; else of[1] = of[1] && of[1] != one ? ANY : one; }
  void add(Holds other) { for (I one : other.of) if (one) add(one == ANY ? ANY : one - 1); }
  bool has(I place) const { for (I one : of) if (one == ANY || one == place + 1) return true; return false; }
  static const I ANY = 0xffff; };
// An operand of a product, as it was: its numbers, row by row, and its nodes, of which the first and the steps are
// known where there is no list of them.
struct Factor { const void* data; const I* ids; I id, row, step; };
// The numbers of a tensor of the caller's that is a factor again and again.
struct Weights { I place, at, rows, n, row, step; void* data; };
// Elements of a product, which have no edges: each is a row of one factor times a column of the other.
struct Product { I first, count, columns, n; Factor a, b; I touched[8], touched_n; void* own;
    void (*back)(const Product&, F*, unsigned char*); };
struct Tape { I first, n, n_room, edges_n, edges_room; I* ends; Holds* holds; Edge* edges; bool keeps;
    I products_n, products_room; Product* products; I givens_n; Weights givens[32]; };
static Tape* tape;
static Holds next_holds;  // of the node that is made next
static I most_nodes = 1024, most_edges = 1024;  // that a run has had
static __attribute__((noinline, cold)) void tape_grow() {
  if (tape->n + 1 >= tape->n_room) {
    tape->n_room = 2 * tape->n_room + most_nodes;
    I* ends = (I*)realloc(tape->ends, tape->n_room * sizeof(I));
    if (!ends) bail(MEMORY);
    tape->ends = ends;
    Holds* holds = (Holds*)realloc(tape->holds, tape->n_room * sizeof(Holds));
    if (!holds) bail(MEMORY);
    tape->holds = holds;
  }
  if (tape->edges_n + 1 >= tape->edges_room) {
    I room = 2 * tape->edges_room + most_edges;
    if (room > ((I)1 << 27)) bail(MEMORY);
    Edge* edges = (Edge*)realloc(tape->edges, room * sizeof(Edge));
    if (!edges) bail(MEMORY);
    tape->edges = edges; tape->edges_room = room;
  }
}
static inline void edge(I parent, F slope, bool chosen = false) {
  if (parent <= 0) return;
  if (__builtin_expect(tape->edges_n + 1 >= tape->edges_room, 0)) tape_grow();
  tape->edges[tape->edges_n++] = {chosen && slope == 0 ? -parent : parent, slope};
}
// What is reached without getting anything: autograd gives zeros to all that a tensor was made of, where one element of
// it is used. The next node reaches what is noted here.
static I pending[8], pending_n;
static inline void touch(I group) { if (group > 0 && pending_n < 8) pending[pending_n++] = group; }
static __attribute__((noinline)) void touch_now() {
  for (I k = 0; k < pending_n; ++k) { if (tape->edges_n + 1 >= tape->edges_room) tape_grow();
      tape->edges[tape->edges_n++] = {-pending[k], 0}; }
  pending_n = 0;
}
// what is made of the edges since ``from``; 0 is what asks for a gradient, and depends on nothing that does
static inline I node(I from) {
  if (__builtin_expect(pending_n, 0)) touch_now();
  if (tape->edges_n == from) return 0;
  if (__builtin_expect(tape->n + 1 >= tape->n_room, 0)) tape_grow();
  tape->ends[tape->n] = tape->edges_n; tape->holds[tape->n] = next_holds; next_holds = {};
  return tape->first + tape->n++;
}
// whether products of a few slopes stay in range
static inline bool ordinary(F slope) { return slope == 0 || (fabs(slope) > 1e-60 && fabs(slope) < 1e60); }
// What only one number is made of gives it its edges, from the last one made on: preaccumulation (Griewank and Walther,
// 2008, chapter 10).
static inline bool taken_over(I made, F slope, bool chosen, I& from) {
  I k = tape->n - 1;
  if (made <= 0 || made != tape->first + k || tape->ends[k] != from || !ordinary(slope)) return false;
  const Product* last = tape->products_n ? tape->products + tape->products_n - 1 : nullptr;
  if (last && made < last->first + last->count) return false;
  I first = k ? tape->ends[k - 1] : 0;
  if (from - first > 4) return false;
  if (slope != 1) for (I e = first; e < from; ++e) if (!ordinary(tape->edges[e].slope)) return false;
  if (slope != 1) for (I e = first; e < from; ++e) {
    Edge& one = tape->edges[e];
    one.slope *= slope;
    if (chosen && slope == 0 && one.parent > 0) one.parent = -one.parent;
  }
  next_holds.add(tape->holds[k]);
  tape->n = k; from = first;
  return true;
}
static void free_tape(Tape* one) { if (one->n + 2 > most_nodes) most_nodes = one->n + 2;
    if (one->edges_n + 2 > most_edges) most_edges = one->edges_n + 2; free(one->ends); free(one->holds);
    for (I k = 0; k < one->products_n; ++k) free(one->products[k].own);
    for (I k = 0; k < one->givens_n; ++k) free(one->givens[k].data);
    free(one->products); free(one->edges); free(one); }
extern "C" void release_tape(Tape* one) { free_tape(one); }
extern "C" I tape_size(Tape* one) { return one->first + one->n; }
extern "C" I tape_keeps(Tape* one) { return one->keeps; }
// whether something that is reached was made of a tensor of the caller, as it was then
extern "C" I needs_old(Tape* one, const unsigned char* reached, I place) {
  for (I k = 0; k < one->n; ++k) if (reached[one->first + k] && one->holds[k].has(place)) return 1;
  return 0;
}
extern "C" void sweep_tape(Tape* one, F* slopes, unsigned char* reached) {
  I products = one->products_n;
  for (I k = one->n - 1; k >= 0; --k) {
    I me = one->first + k;
    while (products && one->products[products - 1].first > me) --products;
    if (!reached[me]) continue;
    const F slope = slopes[me];
    if (products && me < one->products[products - 1].first + one->products[products - 1].count) {
      const Product& made = one->products[products - 1];  // none of its elements is made of another
      for (I e = 0; e < made.touched_n; ++e) reached[made.touched[e]] = 1;
      made.back(made, slopes, reached);
      k = made.first - one->first;
      continue;
    }
    for (I e = k ? one->ends[k - 1] : 0; e < one->ends[k]; ++e) {
      const Edge& edge = one->edges[e];
      if (edge.parent < 0) { reached[-edge.parent] = 1; continue; }
      reached[edge.parent] = 1; slopes[edge.parent] += slope * edge.slope;
    }
  }
}
"""

TENSORS = r"""// ---- tensors: views of buffers, which they share
static const I LARGEST = (I)1 << 26, LONGEST = 4096;
static int ignored;
template <class T> struct Wide { typedef I type; };
template <> struct Wide<float> { typedef F type; };
template <> struct Wide<F> { typedef F type; };
template <class T> struct Code;
template <> struct Code<float> { static const int at = 0; };
template <> struct Code<double> { static const int at = 1; };
template <> struct Code<I> { static const int at = 2; };
template <> struct Code<bool> { static const int at = 3; };
template <> struct Code<int32_t> { static const int at = 4; };
template <> struct Code<int16_t> { static const int at = 5; };
template <> struct Code<int8_t> { static const int at = 6; };
template <> struct Code<uint8_t> { static const int at = 7; };
template <class T> struct Num { T v; I node; bool held; I group = 0; };  // a 0-dim tensor that no name stands for yet
template <class T> static inline I settled(const Num<T>& x) {
  if (x.group <= 0) return x.node;
  I from = tape->edges_n; edge(x.node, 1); touch(x.group);
  return node(from);
}
template <class T> struct Buf {
  I refs = 1, n = 0;
  T* data = nullptr;
  I* nodes = nullptr;
  int place = -1;  // of the caller's
  bool held = false, handed = false, dirty = false, detached = false, viewed = false;
  bool grouped = false;  // all elements are reached by the group
  bool walked = false;  // its rows were made by one operation
  bool rewritten = false;  // so is all that the elements were made of before they were stored to
  // what it was handed out as
  struct { PyObject* object = nullptr; int rank = 0; I at = 0, *size = nullptr, *step = nullptr; } made;
  T own{};
  I own_node = 0, group = 0, version = 0;
  void empty() { if (place < 0 && data && data != &own) give(data, n * sizeof(T));
      if (nodes && nodes != &own_node) give(nodes, n * sizeof(I)); data = nullptr; nodes = nullptr; }
  void track() {
    if (nodes) return;
    if (n == 1) nodes = &own_node; else nodes = (I*)take(n * sizeof(I));
    for (I k = 0; k < n; ++k) nodes[k] = 0;
  }
  // one node that reaches all elements
  I all_of_it() {
    if (rewritten) return group;
    if ((place >= 0 && !dirty) || n == 1 || !nodes) return 0;
    if (!grouped) {
      Holds own = next_holds; next_holds = {};
      I from = tape->edges_n;
      for (I k = 0; k < n; ++k) if (nodes[k] > 0) { if (tape->edges_n + 1 >= tape->edges_room) tape_grow();
          tape->edges[tape->edges_n++] = {-nodes[k], 0}; }
      touch(group); group = node(from); grouped = true; next_holds = own;
    }
    return group;
  }
  void put(I k, const Num<T>& x) {
    data[k] = x.v;
    if (!TRACKED) return;
    ++version; I me = settled(x); if (me >= 0) track(); if (nodes) nodes[k] = me > 0 ? me : 0; held |= x.held;
  }
  // what reaches more than the elements, of which so many are read
  I beside(I count) { return nodes && (count != n || rewritten) ? all_of_it() : 0; }
  // A copy in the place of what an element was: who reads any element reaches both.
  void store(I k, Num<T> x) {
    x.held = false;
    if (TRACKED && nodes && !rewritten) { group = n == 1 && *nodes > 0 ? *nodes : all_of_it(); rewritten = true; }
    put(k, x);
    if (!TRACKED || !nodes || nodes[k] <= 0) return;
    Holds own = next_holds; next_holds = {};
    I from = tape->edges_n; touch(group); touch(nodes[k]); group = node(from); rewritten = true; next_holds = own;
  }
};
static I held_bits[64];
template <class T> static inline void hold(Buf<T>* b, Holds& holds) { b->held = true; if (TRACKED && tape) {
    tape->keeps = true; if (b->place >= 0) holds.add(b->place);
    if (b->place >= 0 && b->place < 64 * 63) held_bits[b->place >> 6] |= (I)1 << (b->place & 63); } }
template <class T> static Ref<Buf<T>> buffer(I n) {
  if (n < 0 || n > LARGEST) bail(MEMORY);
  Ref<Buf<T>> b = made<Buf<T>>();
  b.p->n = n; b.p->data = n == 1 ? &b.p->own : (T*)take((n ? n : 1) * sizeof(T));
  if (n != 1 && !n) b.p->n = 0;
  return b;
}
template <class T, int R> struct Ten { typedef T type; Ref<Buf<T>> b; I at = 0; I size[R] = {}, step[R] = {};
    bool itself = false; };  // the caller's tensor, and no view of it
// Where nothing changes tensors, and nobody tells one object from another, a number needs no buffer, and ``at`` is its
// node; if it is handed out by no container either, it never has one.
template <class T, bool picked> struct Number {
  Ref<Buf<T>> b; I at = 0; T own{}; bool has = false;
  Number() {}
  Number(const Num<T>& x) { if constexpr (LOOSE) { own = x.v; has = true; if (TRACKED) { I me = settled(x);
      at = me < 0 ? -1 : me; } else at = -1; } else { b = buffer<T>(1); b.p->put(0, x); } }
};
template <class T> struct NoBuf { Buf<T>* p = nullptr; operator Ref<Buf<T>>() const { return Ref<Buf<T>>(); } };
template <class T> struct Number<T, true> {
  static constexpr NoBuf<T> b{}; static constexpr I at = -1; T own{}; bool has = false;
  Number() {}
  Number(const Num<T>& x) : own(x.v), has(true) {}
};
template <class T> struct Ten<T, 0> : Number<T, PICKED> { typedef T type; using Number<T, PICKED>::Number; };
template <class T, int R> static inline bool is_loose(const Ten<T, R>&) { return false; }
template <class T> static inline bool is_loose(const Ten<T, 0>& x) { return LOOSE && x.has; }
template <class T, int R> static I count_of(const Ten<T, R>& x) { I n = 1;
    if constexpr (R > 0) for (int k = 0; k < R; ++k) n *= x.size[k]; return n; }
template <class T, int R> static Ten<T, R> fresh_ten(const I* size) {
  Ten<T, R> x; I n = 1;
  for (int k = R - 1; k >= 0; --k) { if (size[k] < 0) bail(KIND); x.size[k] = size[k]; x.step[k] = n; n *= size[k];
      if (n > LARGEST) bail(MEMORY); }
  x.b = buffer<T>(n);
  return x;
}
template <class T> static Ten<T, 1> row_of_one(const Num<T>& x) { I n = 1; Ten<T, 1> out = fresh_ten<T, 1>(&n);
    out.b.p->put(0, x); return out; }
template <class T> static inline Num<T> get(const Buf<T>* b, I at) { return {b->data[at],
    TRACKED && b->nodes ? b->nodes[at] : -1, false}; }
template <class T> static inline Num<T> val(const Ten<T, 0>& x) {
    if (is_loose(x)) return {x.own, x.at, false};
    if (!x.b.p) bail(UNBOUND);
    Num<T> one = get<T>(x.b.p, x.at); if (TRACKED && one.node >= 0) one.group = x.b.p->all_of_it(); return one; }
template <class T> static inline const Num<T>& val(const Num<T>& x) { return x; }
template <class T, class S> static inline Num<T> cast(const Num<S>& x) { return {(T)x.v, x.node, x.held, x.group}; }
template <class T, class S> static inline Num<T> as_num(const Num<S>& x) { return cast<T>(x); }
template <class T, class S> static inline Num<T> as_num(const Ten<S, 0>& x) { return cast<T>(val(x)); }
template <class T> static inline Num<T> as_num(I x) {
    if constexpr (Code<T>::at > 3) if ((I)(T)x != x) bail(OVERFLOW);
    return {(T)x, -1, false}; }
template <class T> static inline Num<T> as_num(F x) { return {(T)x, -1, false}; }
template <class T> static inline Num<T> as_num(bool x) { return {(T)x, -1, false}; }
static inline Dyn no_bool(Dyn x) { if (x.tag == 0) bail(KIND); return x; }
template <class T> static inline Num<T> as_num(Dyn x) { return {(T)x.real(), -1, false}; }
template <class T, int R> static inline void note(const Ten<T, R>& x) {
    if (is_loose(x)) { if (TRACKED && tape) tape->keeps = true; } else hold(x.b.p, next_holds); }
template <class T, int R> static inline void note_for(I made, const Ten<T, R>& x) { Holds none = {};
    if (is_loose(x)) { if (TRACKED && tape) tape->keeps = true; return; }
    hold(x.b.p, made > 0 ? tape->holds[made - tape->first] : none); }
template <class T> static inline void note(const T&) { if (TRACKED) tape->keeps = true; }

// what a part of a tensor was made of, beside its elements
template <class T, int R> static inline void touch_all(const Ten<T, R>& x) {
  if constexpr (TRACKED) if (R) touch(x.b.p->beside(count_of(x)));
}
template <class S> static inline void touch_all(const S&) {}
template <class T> static inline void touch_all(const Num<T>& x) { touch(x.group); }

// ---- items and slices
template <int axis, class T, int R> static Ten<T, R - 1> pick(const Ten<T, R>& x, I i) {
  if (!x.b.p) bail(UNBOUND);
  if constexpr (PICKED && R == 1) return Ten<T, 0>(get(x.b.p, x.at + place(i, x.size[axis]) * x.step[axis]));
  else {
    Ten<T, R - 1> out; out.b = x.b; out.at = x.at + place(i, x.size[axis]) * x.step[axis];
    if constexpr (R > 1) for (int k = 0; k < R - 1; ++k) { out.size[k] = x.size[k < axis ? k : k + 1];
        out.step[k] = x.step[k < axis ? k : k + 1]; }
    return out;
  }
}
template <class T, int R, class... Index> static inline Ten<T, R - int(sizeof...(Index))> picked(
    const Ten<T, R>& x, Index... index) {
  constexpr int N = sizeof...(Index);
  if (!x.b.p) bail(UNBOUND);
  const I places[N] = {index...};
  I at = x.at; for (int k = 0; k < N; ++k) at += place(places[k], x.size[k]) * x.step[k];
  if constexpr (PICKED && R == N) return Ten<T, 0>(get(x.b.p, at));
  else {
    Ten<T, R - N> out; out.b = x.b; out.at = at;
    if constexpr (R > N) for (int k = N; k < R; ++k) { out.size[k - N] = x.size[k]; out.step[k - N] = x.step[k]; }
    return out;
  }
}
template <class T, int R> static Ten<T, R> viewed(Ten<T, R> x) {
  if constexpr (R > 0) { x.itself = false; if (x.b.p) x.b.p->viewed = true; }
  else if (x.b.p && x.b.p->place >= 0 && x.b.p->n == 1) bail(KIND);  // it would be handed out as what was given
  return x;
}
template <class T> static const Num<T>& viewed(const Num<T>& x) { return x; }
template <class T, int R> static Ten<T, R> detached(const Ten<T, R>& x) { if (x.b.p) x.b.p->detached = true;
    return viewed(x); }
template <class T> static const Num<T>& detached(const Num<T>& x) { return x; }
template <class T, int R> static inline void walked(const Ten<T, R>& x) { if (TRACKED && x.b.p) x.b.p->walked = true; }
// the numbers without their nodes: a copy in place of a view, so nothing may change, and it is not handed out
template <class T, int R> static Ten<T, R> unlinked(const Ten<T, R>& x) {
  if constexpr (R == 0) if (is_loose(x)) { Ten<T, 0> out = x; out.at = -1; return out; }
  if (!x.b.p) bail(UNBOUND);
  if (!x.b.p->nodes) return detached(x);
  if (x.b.p->place >= 0) bail(KIND);  // the caller may change what it shares memory with
  Ten<T, R> out; I k = 0;
  if constexpr (R == 0) out.b = buffer<T>(1); else out = fresh_ten<T, R>(x.size);
  each(x, [&](I at) { out.b.p->data[k++] = x.b.p->data[at]; });
  out.b.p->handed = true;
  return out;
}
template <class T> static Num<T> unlinked(const Num<T>& x) { return {x.v, -1, false}; }
template <int axis, class T, int R> static Ten<T, R> cut_of(const Ten<T, R>& x, const Cut& c) {
  if (c.step < 1) bail(KIND);
  Ten<T, R> out = viewed(x);
  if (c.count) out.at += c.from * x.step[axis];
  out.size[axis] = c.count; out.step[axis] = x.step[axis] * c.step;
  if (TRACKED && x.b.p && x.b.p->nodes && !count_of(out)) bail(EMPTY);  // no element would tell that it is tracked
  return out;
}
template <class T> static Ten<T, 2> turned(const Ten<T, 2>& x) { Ten<T, 2> out = viewed(x);
    out.size[0] = x.size[1];
    out.size[1] = x.size[0]; out.step[0] = x.step[1]; out.step[1] = x.step[0]; return out; }
template <class T> static Ten<T, 2> one_below_other(const Ten<T, 3>& x) {
  if (!x.b.p) bail(UNBOUND);
  if (x.step[0] != x.size[1] * x.step[1]) bail(KIND);
  Ten<T, 2> out; out.b = x.b; out.at = x.at; out.size[0] = x.size[0] * x.size[1]; out.step[0] = x.step[1];
  out.size[1] = x.size[2]; out.step[1] = x.step[2];
  return out;
}
template <class T> static Ten<T, 2> in_rows(const Ten<T, 1>& x, I rows, I columns) {
  Ten<T, 2> out; out.b = x.b; out.at = x.at; out.size[0] = rows; out.size[1] = columns;
  out.step[0] = columns * x.step[0]; out.step[1] = x.step[0];
  return out;
}
template <class T> static Ten<T, 1> in_shape(const Ten<T, 1>& x, I n) {
  if (n != -1 && n != x.size[0]) bail(KIND);
  return x;
}
template <class T> static Ten<T, 2> in_shape(const Ten<T, 1>& x, I rows, I columns) {
  I n = x.size[0];
  if (rows == -1 && columns > 0) rows = n / columns; else if (columns == -1 && rows > 0) columns = n / rows;
  if (rows < 0 || columns < 0 || rows > LARGEST || columns > LARGEST || rows * columns != n) bail(KIND);
  return in_rows(x, rows, columns);
}
template <class T, int R> static Ten<T, 1> flat(const Ten<T, R>& x) {
  if constexpr (R == 0) if (is_loose(x)) return row_of_one(val(x));
  if (!x.b.p) bail(UNBOUND);
  Ten<T, 1> out; out.b = x.b; out.at = x.at; out.step[0] = 1; out.size[0] = count_of(x);
  I n = 1; for (int k = R - 1; k >= 0; --k) { if (x.size[k] > 1 && x.step[k] != n) bail(KIND); n *= x.size[k]; }
  return out;
}
template <int axis, class T, int R> static Ten<T, R + 1> widened(const Ten<T, R>& x) {
  if constexpr (R == 0) if (is_loose(x)) return row_of_one(val(x));
  Ten<T, R + 1> out; out.b = x.b; out.at = x.at;
  for (int k = 0; k <= R; ++k) {
    if constexpr (R > 0) { out.size[k] = k == axis ? 1 : x.size[k < axis ? k : k - 1];
        out.step[k] = k != axis ? x.step[k < axis ? k : k - 1] : axis < R ? x.size[axis] * x.step[axis] : 1; }
    else { out.size[k] = 1; out.step[k] = 1; }
  }
  return out;
}
template <class T> static Ten<T, 1> widened_number(const Num<T>& x) { return row_of_one(x); }

// ---- all elements, one after the other
template <class T, int R, class Each> static inline void each(const Ten<T, R>& x, Each each_) {
  if (!x.b.p) bail(UNBOUND);
  if constexpr (R == 0) { each_(x.at); return; }
  else {
    I n = count_of(x); if (!n) return;
    I index[R] = {}, at = x.at;
    for (I k = 0; k < n; ++k) {
      each_(at);
      for (int axis = R - 1; axis >= 0; --axis) {
        at += x.step[axis];
        if (++index[axis] < x.size[axis]) break;
        at -= x.step[axis] * x.size[axis]; index[axis] = 0;
      }
    }
  }
}
// an operand beside others: where it is, and its steps along the axes of the result
template <class T, class S, int R> struct Beside {
  const Buf<S>* b; Num<S> one; I at; I step[R];
  Num<T> now() const { return cast<T>(b ? get(b, at) : one); }
  void go(int axis, I n) { at += step[axis] * n; }
};
template <int R, class S, int Q> static void spread(const Ten<S, Q>& x, I* size) {
  if (!x.b.p && !is_loose(x)) bail(UNBOUND);
  if constexpr (Q > 0) for (int k = 0; k < Q; ++k) {
    I& mine = size[k + R - Q];
    if (mine == 1) mine = x.size[k]; else if (x.size[k] != 1 && x.size[k] != mine) bail(KIND);
  }
}
template <int R, class S> static void spread(const S&, I*) {}
template <class T, int R, class S, int Q> static Beside<T, S, R> beside(const Ten<S, Q>& x, const I* size) {
  if constexpr (Q == 0) if (is_loose(x)) return {nullptr, val(x), 0, {}};
  Beside<T, S, R> out{x.b.p, {}, x.at, {}};
  for (int k = 0; k < R; ++k) out.step[k] = 0;
  if constexpr (Q > 0) for (int k = 0; k < Q; ++k) out.step[k + R - Q] = x.size[k] == 1 ? 0 : x.step[k];
  return out;
}
template <class T, int R, class S> static Beside<T, S, R> beside(const Num<S>& x, const I*) { return {nullptr,
    {x.v, x.node, x.held, 0}, 0, {}}; }
template <class T, int R> static Beside<T, T, R> beside(I x, const I*) { return {nullptr, as_num<T>(x), 0, {}}; }
template <class T, int R> static Beside<T, T, R> beside(F x, const I*) { return {nullptr, as_num<T>(x), 0, {}}; }
template <class T, int R> static Beside<T, T, R> beside(bool x, const I*) { return {nullptr, as_num<T>(x), 0, {}}; }
template <class T, int R> static Beside<T, T, R> beside(Dyn x, const I*) { return {nullptr, as_num<T>(x), 0, {}}; }
// long rows are PyTorch's work, but for a few beside a loop over numbers, and for those that loops look at
static inline void row_made(I n) { if (!LOOKED && n > LONGEST && ++state->long_rows > 8) bail(MEMORY); }

// ---- operations on numbers, and element by element
// ``brief``: nothing but the result is made of the operand
template <class Op, class T, class O> static inline Num<O> one_of(Op op, const Num<T>& a, bool brief = false) {
  O r = op.f(a.v);
  if constexpr (!TRACKED || Code<O>::at > 1) return {r, -1, false};
  if (a.node < 0) return {r, -1, false};
  I from = tape->edges_n;
  F slope = op.da(a.v, r);
  if (!brief || !taken_over(a.node, slope, op.chosen, from)) edge(a.node, slope, op.chosen);
  touch(a.group);
  if (Op::keeps_result) tape->keeps = true;
  return {r, node(from), Op::keeps_result};
}
template <class Op, class T, class O> static inline Num<O> two_of(Op op, const Num<T>& a, const Num<T>& b,
    bool a_brief = false, bool b_brief = false) {
  O r = op.f(a.v, b.v);
  if constexpr (!TRACKED || Code<O>::at > 1) return {r, -1, false};
  if (a.node < 0 && b.node < 0) return {r, -1, false};
  I from = tape->edges_n;
  F da = op.da(a.v, b.v, r), db = op.db(a.v, b.v, r);
  bool a_done = a_brief && a.node > b.node && taken_over(a.node, da, op.chosen, from);
  bool b_done = b_brief && taken_over(b.node, db, op.chosen, from);
  if (a_brief && !a_done) a_done = taken_over(a.node, da, op.chosen, from);
  if (!a_done) edge(a.node, da, op.chosen);
  if (!b_done) edge(b.node, db, op.chosen);
  touch(a.group); touch(b.group);
  return {r, node(from), Op::keeps_result};
}
template <class T> static inline bool asks(const Num<T>& x) { return x.node >= 0; }
template <class T, int R> static inline bool asks(const Ten<T, R>& x) {
    return is_loose(x) ? x.at >= 0 : x.b.p->nodes != nullptr; }
static inline bool asks(I) { return false; }
static inline bool asks(F) { return false; }
static inline bool asks(bool) { return false; }
static inline bool asks(Dyn) { return false; }
template <class Op, class A> static inline void kept1(const A& a) { next_holds = {};
    if constexpr (TRACKED && Op::keeps) if (asks(a)) note(a); }
template <class Op, class A, class B> static inline void kept2(const A& a, const B& b) {
  next_holds = {};
  if constexpr (TRACKED && Op::keeps) {
    bool x = asks(a), y = asks(b);
    if (Op::crosswise ? y : x || y) note(a);
    if (Op::crosswise ? x : x || y) note(b);
  }
}
// an operand that has no name
template <class A> struct Brief { enum { is = false }; };
template <class T> struct Brief<Num<T>> { enum { is = true }; };
template <class T, class O, class Op, class A> static inline Num<O> map1(Op op, A&& a) { kept1<Op>(a);
    return one_of<Op, T, O>(op, as_num<T>(a), Brief<A>::is); }
template <class T, class O, class Op, class A, class B> static inline Num<O> map2(Op op, A&& a, B&& b) {
  kept2<Op>(a, b);
  return two_of<Op, T, O>(op, as_num<T>(a), as_num<T>(b), Brief<A>::is, Brief<B>::is);
}
template <class T, class O, int R, class Op, class A> static Ten<O, R> rows1(Op op, const A& a) {
  kept1<Op>(a); row_made(count_of(a));
  Ten<O, R> out = fresh_ten<O, R>(a.size); I k = 0; touch_all(a);
  each(a, [&](I at) { out.b.p->put(k++, one_of<Op, T, O>(op, cast<T>(get(a.b.p, at)))); });
  pending_n = 0;
  return out;
}
template <class T, class O, int R, class Op, class A, class B> static Ten<O, R> rows2(Op op, const A& a, const B& b) {
  I size[R]; for (int k = 0; k < R; ++k) size[k] = 1;
  spread<R>(a, size); spread<R>(b, size);
  kept2<Op>(a, b);
  Ten<O, R> out = fresh_ten<O, R>(size); row_made(count_of(out));
  auto x = beside<T, R>(a, size); auto y = beside<T, R>(b, size);
  I n = count_of(out), index[R] = {};
  if (TRACKED && !n && (asks(a) || asks(b))) bail(EMPTY);
  touch_all(a); touch_all(b);
  for (I k = 0; k < n; ++k) {
    out.b.p->put(k, two_of<Op, T, O>(op, x.now(), y.now()));
    for (int axis = R - 1; axis >= 0; --axis) {
      x.go(axis, 1); y.go(axis, 1);
      if (++index[axis] < size[axis]) break;
      x.go(axis, -size[axis]); y.go(axis, -size[axis]); index[axis] = 0;
    }
  }
  pending_n = 0;
  return out;
}
struct Op_same { static constexpr bool chosen = false, keeps = false, keeps_result = false, crosswise = false;
  template <class T> T f(T a) const { return a; }
  template <class T> F da(T, T) const { return 1; } };
template <class S> struct Op_cast { static constexpr bool chosen = false, keeps = false, keeps_result = false,
    crosswise = false;
  template <class T> S f(T a) const { return (S)a; }
  template <class T> F da(T, S) const { return 1; } };
template <class T> struct Op_clamp { static constexpr bool chosen = true, keeps = true, keeps_result = false,
    crosswise = false; bool has_low, has_high; T low, high;
  T f(T a) const { if (low != low || high != high) bail(DOMAIN);
      if (has_low && a < low) a = low; if (has_high && a > high) a = high; return a; }
  F da(T a, T) const { return (!has_low || a >= low) && (!has_high || a <= high); } };
struct Op_power { static constexpr bool keeps = true, keeps_result = false, crosswise = false; F b; bool chosen;
  Op_power(F b_) : b(b_), chosen(b_ == 0) {}
  template <class T> T f(T a) const { return ops::power<T>(a, b); }
  template <class T> F da(T a, T) const { return b == 0 ? 0 : b * ops::power<T>(a, b - 1); } };
// of a number; autograd takes it from what it keeps, and where 0 is to a power from 0 on there is no slope
struct Op_power_of { static constexpr bool chosen = false, keeps = true, keeps_result = true, crosswise = false; F a;
  Op_power_of(F a_) : a(a_) {}
  template <class T> T f(T b) const { return ops::math::pow(T(a), b); }
  template <class T> F da(T b, T r) const { return a == 0 && b >= 0 ? 0 : r * ops::simd::log(a); } };
// of two tensors; where a slope is 0 by definition nothing flows, which the loop does itself; E: the exponent's dtype,
// in which autograd takes one from it
template <class E> struct Op_powers {
  static constexpr bool chosen = false, keeps = true, keeps_result = true, crosswise = false;
  template <class T> T f(T a, T b) const {
      if (TRACKED && (b == 0 || (a == 0 && b >= 0))) bail(DOMAIN); return ops::math::pow(a, b); }
  template <class T> F da(T a, T b, T) const { return b * ops::math::pow(a, T(E(E(b) - E(1)))); }
  template <class T> F db(T a, T, T r) const { return r * ops::simd::log(a); } };
template <class T> struct Op_select { static constexpr bool chosen = true, keeps = false, keeps_result = false,
    crosswise = false; bool first;
  T f(T a, T b) const { return first ? a : b; }
  F da(T, T, T) const { return first; }
  F db(T, T, T) const { return !first; } };
// an element where a test is as wanted, else zero; and the bits of two elements, of which one at least has none: +0
struct Op_gate { static constexpr bool chosen = true, keeps = true, keeps_result = false, crosswise = false; bool on;
  template <class T> T f(T test, T a) const { return (test != 0) == on ? a : T(0); }
  template <class T> F da(T, T, T) const { return 0; }
  template <class T> F db(T test, T, T) const { return (test != 0) == on; } };
struct Op_union { static constexpr bool chosen = false, keeps = false, keeps_result = false, crosswise = false;
  template <class T> T f(T a, T b) const { unsigned char x[sizeof(T)], y[sizeof(T)]; __builtin_memcpy(x, &a, sizeof(T));
      __builtin_memcpy(y, &b, sizeof(T)); for (unsigned k = 0; k < sizeof(T); ++k) x[k] |= y[k];
      T r; __builtin_memcpy(&r, x, sizeof(T)); return r; }
  template <class T> F da(T, T, T) const { return 1; }
  template <class T> F db(T, T, T) const { return 1; } };
"""
