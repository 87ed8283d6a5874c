"""C++ of typed programs: folds of tensors, tensors that are made, and changes in place."""

FOLDS = r"""// ---- what goes through all elements of an axis, or of all of them
template <class T> struct Several {
  T* v; I* node; I n;
  bool any() const { for (I k = 0; k < n; ++k) if (node[k] >= 0) return true; return false; }
  void put(I k, const Num<T>& x) { v[k] = x.v; if (TRACKED) node[k] = x.node; }
};
// floats are added and multiplied as doubles: what would leave the range of floats on its way is left to the loop
template <class T> static inline void in_range(F) {}
template <> inline void in_range<float>(F x) { x = fabs(x);
    if ((x > 3.4028234e38 && x - x == 0) || (x && x < 1e-30)) bail(DOMAIN); }
template <class T> static inline void in_sum(F) {}
template <> inline void in_sum<float>(F x) { if (fabs(x) > 3.4028234e38 && x - x == 0) bail(DOMAIN); }
struct Fold_sum {
  static constexpr bool keeps = false, keeps_result = false;
  template <class T> static Num<T> of(const Several<T>& x) {
    typename Wide<T>::type total = 0; for (I k = 0; k < x.n; ++k) in_sum<T>(total += x.v[k]);
    if (!TRACKED || !x.any()) return {(T)total, -1, false};
    I from = tape->edges_n; for (I k = 0; k < x.n; ++k) edge(x.node[k], 1);
    return {(T)total, node(from), false};
  }
};
struct Fold_mean {
  static constexpr bool keeps = false, keeps_result = false;
  template <class T> static Num<T> of(const Several<T>& x) {
    F total = 0; for (I k = 0; k < x.n; ++k) in_sum<T>(total += x.v[k]);
    if (!TRACKED || !x.any()) return {(T)(total / x.n), -1, false};
    I from = tape->edges_n; for (I k = 0; k < x.n; ++k) edge(x.node[k], 1.0 / x.n);
    return {(T)(total / x.n), node(from), false};
  }
};
// ties share the gradient, or the first takes it, as where PyTorch tells places: of zeros it does not say which one is
// the largest otherwise
template <int sign, bool shared> struct Fold_extreme {
  static constexpr bool keeps = shared, keeps_result = shared;
  template <class T> static I where(const Several<T>& x) {
    if (!x.n) bail(EMPTY);
    I best = 0;
    for (I k = 0; k < x.n; ++k) {
      if (x.v[k] != x.v[k]) { if (TRACKED) bail(DOMAIN); return k; }
      if (shared && x.v[k] == 0 && x.v[best] == 0 && signbit((F)x.v[k]) != signbit((F)x.v[best])) bail(DOMAIN);
      if (sign > 0 ? x.v[k] > x.v[best] : x.v[k] < x.v[best]) best = k;
    }
    return best;
  }
  template <class T> static Num<T> of(const Several<T>& x) {
    I best = where(x); T r = x.v[best];
    if (!TRACKED || !x.any()) return {r, -1, false};
    I ties = 0; for (I k = 0; k < x.n; ++k) ties += x.v[k] == r;
    I from = tape->edges_n;
    for (I k = 0; k < x.n; ++k) edge(x.node[k], shared ? (x.v[k] == r ? 1.0 / ties : 0) : k == best, true);
    return {r, node(from), keeps_result};
  }
};
// the largest that is a number
template <class T> static inline T top_of(const Several<T>& x) {
  T top = -__builtin_inf();
  #pragma omp simd reduction(max : top)
  for (I k = 0; k < x.n; ++k) top = x.v[k] > top ? x.v[k] : top;
  return top;
}
struct Fold_logsumexp {
  static constexpr bool keeps = true, keeps_result = true;
  template <class T> static Num<T> of(const Several<T>& x) {
    T top = top_of(x);
    if (!(top - top == 0)) top = 0;
    F total = 0;
    #pragma omp simd reduction(+ : total)
    for (I k = 0; k < x.n; ++k) total += ops::simd::exp((T)(x.v[k] - top));
    T r = ops::simd::log((T)total) + top;
    if (!TRACKED || !x.any()) return {r, -1, false};
    T* shares = (T*)take(x.n * sizeof(T));
    #pragma omp simd
    for (I k = 0; k < x.n; ++k) shares[k] = ops::simd::exp((T)(x.v[k] - r));
    I from = tape->edges_n; for (I k = 0; k < x.n; ++k) edge(x.node[k], shares[k]);
    give(shares, x.n * sizeof(T));
    return {r, node(from), true};
  }
};
struct Fold_norm {
  static constexpr bool keeps = true, keeps_result = true;
  template <class T> static Num<T> of(const Several<T>& x) {
    F total = 0; for (I k = 0; k < x.n; ++k) total += (F)x.v[k] * x.v[k];
    in_range<T>(total);
    T r = (T)sqrt(total);
    if (!TRACKED || !x.any()) return {r, -1, false};
    I from = tape->edges_n;
    for (I k = 0; k < x.n; ++k) edge(x.node[k], r == 0 ? 0 : (F)x.v[k] / r);
    return {r, node(from), true};
  }
};
struct Fold_prod {
  static constexpr bool keeps = true, keeps_result = true;
  template <class T> static Num<T> of(const Several<T>& x) {
    typename Wide<T>::type total = 1; for (I k = 0; k < x.n; ++k) in_range<T>(total *= x.v[k]);
    if (TRACKED && x.any()) bail(DOMAIN);
    return {(T)total, -1, false};
  }
};
struct Fold_any { static constexpr bool keeps = false, keeps_result = false;
  template <class T> static Num<bool> of(const Several<T>& x) { bool r = false; for (I k = 0; k < x.n;
      ++k) r |= x.v[k] != 0; return {r, -1, false}; } };
struct Fold_all { static constexpr bool keeps = false, keeps_result = false;
  template <class T> static Num<bool> of(const Several<T>& x) { bool r = true; for (I k = 0; k < x.n;
      ++k) r &= x.v[k] != 0; return {r, -1, false}; } };
template <int sign> struct Fold_place { static constexpr bool keeps = false, keeps_result = false;
  template <class T> static Num<I> of(const Several<T>& x) { return {Fold_extreme<sign, false>::where(x), -1,
      false}; } };
template <class T> static Several<T> several_of(I n) { I room = n ? n : 1;
    return {(T*)take(room * sizeof(T)), TRACKED ? (I*)take(room * sizeof(I)) : nullptr, n}; }
template <class T> static void give_several(const Several<T>& x) { I room = x.n ? x.n : 1;
    give(x.v, room * sizeof(T)); if (TRACKED) give(x.node, room * sizeof(I)); }
template <class T, class O, class Fold, class S, int R> static Num<O> fold_all(Fold fold, const Ten<S, R>& x) {
  if constexpr (R == 0) if (is_loose(x)) return fold_all<T, O>(fold, row_of_one(val(x)));
  I n = count_of(x), k = 0; Several<T> all = several_of<T>(n);
  each(x, [&](I at) { all.put(k++, cast<T>(get(x.b.p, at))); });
  touch_all(x);
  Num<O> out = Fold::of(all);
  pending_n = 0;
  if (Fold::keeps && out.node >= 0) note_for(out.node, x);
  give_several(all);
  return out;
}
template <class T, class O, class Fold, class S> static Num<O> fold_all(Fold fold, const Num<S>& x) {
    return fold_all<T, O>(fold, Ten<S, 0>(x)); }
// ---- a number, or a tensor
template <class N, class T> struct Either {
  bool plain = true; N n{}; T t{};
  Either() {}
};
template <class T, int R> const Ten<T, R>& tensor_of(const Ten<T, R>& x) { return x; }
template <class N, class T> const T& tensor_of(const Either<N, T>& e) { if (e.plain) bail(KIND); return e.t; }
template <class T> auto& tensor_of(const Opt<T>& e) { return tensor_of(need(e)); }

// ---- making and changing
// the elements of a tensor, the first of which reaches all that it was made of
template <class T, int R> static void put_all(Buf<T>* to, I& o, const Ten<T, R>& x) {
  I group = TRACKED && x.b.p ? x.b.p->beside(count_of(x)) : 0;
  each(x, [&](I at) { Num<T> one = get(x.b.p, at); one.group = group; group = 0; to->put(o++, one); });
}
template <class T> static void put_all(Buf<T>* to, I& o, const Ten<T, 0>& x) { to->put(o++, val(x)); }
template <class T, int R, class L> static Ten<T, R> stacked(const L& list) {
  I n = list->n, size[R];
  if (!n) bail(EMPTY);
  const auto& first = tensor_of(list->data[list->head]);
  if (!first.b.p && !is_loose(first)) bail(UNBOUND);
  size[0] = n; if constexpr (R > 1) for (int k = 1; k < R; ++k) size[k] = first.size[k - 1];
  Ten<T, R> out = fresh_ten<T, R>(size); I o = 0;
  for (I i = 0; i < n; ++i) {
    const auto& one = tensor_of(list->data[list->head + i]);
    if constexpr (R > 1) for (int k = 1; k < R; ++k) if (one.size[k - 1] != size[k]) bail(KIND);
    put_all(out.b.p, o, one);
  }
  return out;
}
// of a list of numbers, as if they were put into a tensor
template <class T, class O, class S, class Fold, class L> static Num<O> fold_list(Fold fold, const L& list) {
  if (!list->n) bail(EMPTY);
  Several<T> all = several_of<T>(list->n);
  for (I i = 0; i < all.n; ++i) {
    const auto& one = tensor_of(list->data[list->head + i]);
    if (TRACKED && !is_loose(one)) { give_several(all); return fold_all<T, O>(fold, stacked<S, 1>(list)); }
    if (!one.b.p && !is_loose(one)) bail(UNBOUND);
    all.put(i, cast<T>(val(one)));
  }
  Num<O> out = Fold::of(all);
  if (Fold::keeps && out.node >= 0) tape->keeps = true;
  give_several(all);
  return out;
}
template <class T, class O, int axis, class Fold, class S, int R> static Ten<O, R - 1> fold_axis(Fold,
    const Ten<S, R>& x) {
  if (!x.b.p) bail(UNBOUND);
  Ten<S, R - 1> first; first.b = x.b; first.at = x.at;
  for (int k = 0; k < R - 1; ++k) { first.size[k] = x.size[k < axis ? k : k + 1];
      first.step[k] = x.step[k < axis ? k : k + 1]; }
  Ten<O, R - 1> out = fresh_ten<O, R - 1>(first.size);
  Several<T> all = several_of<T>(x.size[axis]); I o = 0;
  each(first, [&](I at) {
    for (I k = 0; k < all.n; ++k) all.put(k, cast<T>(get(x.b.p, at + k * x.step[axis])));
    if (!o) touch_all(x);
    Num<O> r = Fold::of(all);
    if (Fold::keeps && r.node >= 0) note_for(r.node, x);
    out.b.p->put(o++, r);
  });
  give_several(all); pending_n = 0;
  return out;
}
// each element of an axis from all of them
struct Row_softmax { template <class T> static void of(const Several<T>& x, T* r) {
  T top = top_of(x);
  F total = 0;
  #pragma omp simd reduction(+ : total)
  for (I k = 0; k < x.n; ++k) total += r[k] = ops::simd::exp((T)(x.v[k] - top));
  if (!(total - total == 0)) bail(DOMAIN);  // minus infinity is as good as any number, unless it is everywhere
  for (I k = 0; k < x.n; ++k) r[k] = (T)(r[k] / total); }
  template <class T> static F slope(const T* r, I i, I j) { return r[i] * ((i == j) - r[j]); } };
struct Row_log_softmax { template <class T> static void of(const Several<T>& x, T* r) {
  T top = top_of(x);
  F total = 0;
  #pragma omp simd reduction(+ : total)
  for (I k = 0; k < x.n; ++k) total += ops::simd::exp((T)(x.v[k] - top));
  if (!(total - total == 0)) bail(DOMAIN);
  T rest = (T)log(total); for (I k = 0; k < x.n; ++k) r[k] = x.v[k] - top - rest; }
  template <class T> static F slope(const T* r, I i, I j) { return (i == j) - ops::simd::exp(r[j]); } };
template <int axis, class Row, class T, int R> static Ten<T, R> each_row(Row, const Ten<T, R>& x) {
  if (!x.b.p) bail(UNBOUND);
  Ten<T, R> out = fresh_ten<T, R>(x.size); row_made(count_of(out));
  Several<T> all = several_of<T>(x.size[axis]);
  T* r = (T*)take((all.n ? all.n : 1) * sizeof(T));
  touch_all(x);
  I starts = all.n ? count_of(x) / all.n : 0;
  for (I s = 0; s < starts; ++s) {
    I rest = s, at = x.at, o = 0;
    for (int k = R - 1; k >= 0; --k) if (k != axis) { I i = rest % x.size[k]; rest /= x.size[k];
        at += i * x.step[k]; o += i * out.step[k]; }
    for (I k = 0; k < all.n; ++k) all.put(k, get(x.b.p, at + k * x.step[axis]));
    Row::of(all, r);
    bool tracked = TRACKED && all.any();
    for (I i = 0; i < all.n; ++i) {
      I me = -1;
      if (tracked) { I from = tape->edges_n; for (I j = 0; j < all.n; ++j) edge(all.node[j], Row::slope(r, i, j));
          me = node(from); tape->keeps = true; }
      out.b.p->put(o + i * out.step[axis], {r[i], me, tracked});
    }
  }
  give(r, (all.n ? all.n : 1) * sizeof(T)); give_several(all); pending_n = 0;
  return out;
}

template <int axis, class T, int R, class L> static Ten<T, R> joined(const L& list) {
  I n = list->n, size[R];
  if (!n) bail(EMPTY);
  const auto& first = tensor_of(list->data[list->head]);
  for (int k = 0; k < R; ++k) size[k] = first.size[k];
  size[axis] = 0;
  for (I i = 0; i < n; ++i) { const auto& one = tensor_of(list->data[list->head + i]); if (!one.b.p) bail(UNBOUND);
      for (int k = 0; k < R; ++k) if (k != axis && one.size[k] != size[k]) bail(KIND); size[axis] += one.size[axis]; }
  Ten<T, R> out = fresh_ten<T, R>(size);
  I after = 1, start = 0; for (int k = axis + 1; k < R; ++k) after *= size[k];
  for (I i = 0; i < n; ++i) {
    const auto& one = tensor_of(list->data[list->head + i]);
    const I block = one.size[axis] * after, gap = size[axis] * after - block;
    I group = TRACKED ? one.b.p->beside(count_of(one)) : 0, o = start, left = block;
    each(one, [&](I at) { if (!left) { o += gap; left = block; }
        Num<T> x = get(one.b.p, at); x.group = group; group = 0; out.b.p->put(o++, x); --left; });
    start += block;
  }
  return out;
}
template <class T, int R> static Ten<T, R> filled_with(const I* size, const Num<T>& x) {
  Ten<T, R> out = fresh_ten<T, R>(size); I n = count_of(out);
  for (I k = 0; k < n; ++k) out.b.p->put(k, x);
  return out;
}
template <class T, class L> static Ten<T, 1> row_of(const L& list) {
  I n = list->n; Ten<T, 1> out = fresh_ten<T, 1>(&n);
  for (I k = 0; k < n; ++k) out.b.p->put(k, as_num<T>(list->data[list->head + k]));
  return out;
}
template <class T, class L> static Ten<T, 2> rows_of(const L& list) {
  I size[2] = {list->n, list->n ? list->data[list->head]->n : 0}; if (!size[0] || !size[1]) bail(EMPTY);
  Ten<T, 2> out = fresh_ten<T, 2>(size); I o = 0;
  for (I i = 0; i < size[0]; ++i) { auto& row = list->data[list->head + i]; if (row->n != size[1]) bail(KIND);
      for (I k = 0; k < row->n; ++k) out.b.p->put(o++, as_num<T>(row->data[row->head + k])); }
  return out;
}
template <class T, class L, class Each> static Ten<T, 2> rows_by(const L& list, I k, Each each_) {
  I size[2] = {list->n, k}; if (!size[0]) bail(EMPTY);
  Ten<T, 2> out = fresh_ten<T, 2>(size); I o = 0;
  for (I i = 0; i < size[0]; ++i) each_(out.b.p, o, list->data[list->head + i]);
  return out;
}
template <class T, class L, class Each> static Ten<T, 3> blocks_by(const L& list, I k, Each each_) {
  I size[3] = {list->n, list->n ? list->data[list->head]->n : 0, k}; if (!size[0] || !size[1]) bail(EMPTY);
  Ten<T, 3> out = fresh_ten<T, 3>(size); I o = 0;
  for (I i = 0; i < size[0]; ++i) { auto& row = list->data[list->head + i]; if (row->n != size[1]) bail(KIND);
      for (I j = 0; j < row->n; ++j) each_(out.b.p, o, row->data[row->head + j]); }
  return out;
}
// what may be a view or a copy must not change any more
template <class T, int R> static inline void fix(const Ten<T, R>& a) { if (is_loose(a)) return;
    if (!a.b.p) bail(UNBOUND); a.b.p->held = true; }
template <class T> static inline void fix(const Num<T>&) {}
template <class T> static Ten<T, 0> fresh_number(const Num<T>& x) { return Ten<T, 0>(x); }
struct Written { void* buffer; PyObject* (*about)(void*); };
static struct { Written* of; I count, room; } written;
template <class T> static PyObject* about_written(void* of);
// what came from the caller changes in a copy, until all is done
template <class T> static inline void may_change(Buf<T>* b) {
  if (!b) bail(UNBOUND);
  if (b->held) bail(KIND);
  ++b->version;
  if (b->place < 0 || b->dirty) return;
  T* mine = (T*)take((b->n ? b->n : 1) * sizeof(T)); memcpy(mine, b->data, b->n * sizeof(T));
  b->data = mine; b->dirty = true; ++b->refs;
  if (written.count == written.room) {
    I room = 2 * written.room + 8; Written* of = (Written*)take(room * sizeof(Written));
    if (written.count) memcpy(of, written.of, written.count * sizeof(Written));
    written.of = of; written.room = room;
  }
  written.of[written.count++] = {b, about_written<T>};
}
// what a detached view would show, and rows that were gone through, are changed by way of the graph alone
template <class T, class A> static inline void may_store(Buf<T>* b, const A& value) {
  may_change(b);
  if (TRACKED && (b->detached || (b->walked && (b->nodes || asks(value))))) bail(KIND);
}
// PyTorch stores no finite float of Python's that is too large for the element
template <class T, class A> static inline void must_hold(const A&) {}
template <class T> static inline void must_hold(const F& v) {
    if (sizeof(T) < 8 && T(0.5) != 0 && magnitude(v) > 0x1.fffffep127 && isfinite(v)) bail(DOMAIN); }
template <class T> static inline void must_hold(const Dyn& v) { if (v.tag == 2) must_hold<T>(v.d); }
template <class T, class A> static void change(const Ten<T, 0>& x, const A& value) {
  must_hold<T>(value); may_store(x.b.p, value); x.b.p->store(x.at, as_num<T>(value));
}
// PyTorch refuses to change a view in place whose tensor was changed otherwise since the view was made.
template <class T, int R> static inline void not_stale(const Ten<T, R>& x) {
  if (TRACKED && x.b.p && x.b.p->nodes && (count_of(x) != x.b.p->n || x.b.p->rewritten)) bail(KIND);
}
template <class T, int R> static inline I version_of(const Ten<T, R>& x) { return x.b.p ? x.b.p->version : 0; }
template <class T, int R> static inline void same_version(const Ten<T, R>& x, I before) {
  if (TRACKED && version_of(x) != before) bail(KIND);
}
// a number of its own, which the new value was made of, so that it reaches all that the old one did
template <class T, class A> static void change_own(const Ten<T, 0>& x, const A& value) {
  not_stale(x); may_store(x.b.p, value);
  if (x.b.p->n == 1) x.b.p->put(x.at, as_num<T>(value)); else x.b.p->store(x.at, as_num<T>(value));
}
// a tensor and another view of its elements, which is the same view or has none in common
template <class T, int R> static I last_of(const Ten<T, R>& x) { I at = x.at;
    if constexpr (R > 0) for (int k = 0; k < R; ++k) at += (x.size[k] - 1) * x.step[k]; return at; }
template <class T, int R, int Q> static void apart(const Ten<T, R>& x, const Ten<T, Q>& y) {
  if (x.b.p != y.b.p || !count_of(x) || !count_of(y) || last_of(x) < y.at || last_of(y) < x.at) return;
  if constexpr (R != Q) bail(KIND);
  else for (int k = 0; k < R; ++k) if (x.at != y.at || x.size[k] != y.size[k] || x.step[k] != y.step[k]) bail(KIND);
}
template <class T, int R> static void apart(const Ten<T, R>&, const Num<T>&) {}
// what an operand was made of, beside the elements that are read
template <class T, int R> static inline I group_of(const Ten<T, R>& x) {
    return TRACKED && x.b.p ? x.b.p->beside(count_of(x)) : 0; }
template <class T> static inline I group_of(const Num<T>& x) { return x.group; }
template <class A> static inline I group_of(const A&) { return 0; }
template <class T, int R, class A> static void change_rows(const Ten<T, R>& x, const A& value) {
  must_hold<T>(value); may_store(x.b.p, value);
  I size[R]; for (int k = 0; k < R; ++k) size[k] = x.size[k];
  spread<R>(value, size);
  for (int k = 0; k < R; ++k) if (size[k] != x.size[k]) bail(KIND);
  I n = count_of(x); Num<T>* all = (Num<T>*)take((n ? n : 1) * sizeof(Num<T>));
  if constexpr (TRACKED) if (!n && asks(value)) bail(EMPTY);
  auto y = beside<T, R>(value, size);
  I index[R] = {};
  for (I k = 0; k < n; ++k) {
    all[k] = y.now();
    for (int axis = R - 1; axis >= 0; --axis) { y.go(axis, 1); if (++index[axis] < size[axis]) break;
        y.go(axis, -size[axis]); index[axis] = 0; }
  }
  if (n) all[0].group = group_of(value);
  I k = 0; each(x, [&](I at) { x.b.p->store(at, all[k++]); });
  give(all, (n ? n : 1) * sizeof(Num<T>));
}
// Autograd keeps the mask.
template <class T, int R, class A> static void change_where(const Ten<T, R>& x, const Ten<bool, R>& mask, const A& v) {
  must_hold<T>(v); may_store(x.b.p, v);
  if ((void*)x.b.p == (void*)mask.b.p) bail(KIND);
  if (TRACKED && (x.b.p->nodes || asks(v))) fix(mask);
  for (int k = 0; k < R; ++k) if (x.size[k] != mask.size[k]) bail(KIND);
  I n = count_of(x), o = 0; bool* on = (bool*)take(n ? n : 1), any = false;
  each(mask, [&](I at) { any |= on[o++] = mask.b.p->data[at]; });
  if (TRACKED && !any && asks(v)) bail(EMPTY);
  o = 0; each(x, [&](I at) { if (on[o++]) x.b.p->store(at, as_num<T>(v)); });
  give(on, n ? n : 1);
}
template <class S, class T> static Ref<List<S, 0>> listed_of(const Ten<T, 1>& x) {
  Ref<List<S, 0>> out = list_of<List<S, 0>>(x.size[0]);
  each(x, [&](I at) { out->add((S)x.b.p->data[at]); });
  return out;
}
template <class S, class T> static Ref<List<Ref<List<S, 0>>, 0>> listed_of(const Ten<T, 2>& x) {
  Ref<List<Ref<List<S, 0>>, 0>> out = list_of<List<Ref<List<S, 0>>, 0>>(x.size[0]);
  for (I k = 0; k < x.size[0]; ++k) out->add(listed_of<S>(pick<0>(x, k)));
  return out;
}
template <class T> bool eq(const Ten<T, 0>& a, const Ten<T, 0>& b) { return val(a).v == val(b).v; }
template <class T> bool lt(const Ten<T, 0>& a, const Ten<T, 0>& b) { return val(a).v < val(b).v; }
template <class T> bool le(const Ten<T, 0>& a, const Ten<T, 0>& b) { return val(a).v <= val(b).v; }
template <class T> bool item_eq(const Ten<T, 0>& a, const Ten<T, 0>& b) { T x = val(a).v, y = val(b).v;
    if (x != x || y != y) bail(DOMAIN); return x == y; }
template <class T> void orderly(const Ten<T, 0>& a) { if (val(a).v != val(a).v) bail(DOMAIN); }
template <class T> bool truth(const Num<T>& a) { return a.v != 0; }
template <class T> bool truth(const Ten<T, 0>& a) { return val(a).v != 0; }
template <class T, int R> bool truth(const Ten<T, R>&) { bail(KIND); }

// ---- a number, or a tensor, as one value of a wider type
template <class N, class T> struct As<Either<N, T>> {
  typedef Either<N, T> E;
  static E of(const E& v) { return v; }
  static E of(const None_&) { return E(); }
  static E of(const T& v) { E e; e.plain = false; e.t = v; return e; }
  static E of(const Num<typename T::type>& v) { E e; e.plain = false; e.t = T(v); return e; }
  static E of(I v) { E e; e.n = As<N>::of(v); return e; }
  static E of(F v) { E e; e.n = As<N>::of(v); return e; }
  static E of(bool v) { E e; e.n = As<N>::of(v); return e; }
  static E of(Dyn v) { E e; e.n = As<N>::of(v); return e; }
  template <class M> static E of(const Either<M, T>& v) { E e; e.plain = v.plain; e.t = v.t;
      if (v.plain) e.n = As<N>::of(v.n); return e; }
};
"""
