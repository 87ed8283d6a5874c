"""C++ of typed programs: products of vectors and matrices, of arrays and of tensors."""

ARRAY_PRODUCTS = r"""// ---- products of vectors and matrices; what is not finite is left to NumPy, which warns
template <class T> T product_at(const T* p, I by, const T* q, I step, I n) {
  F parts[4] = {};
  I k = 0;
  for (; k + 4 <= n; k += 4) for (int i = 0; i < 4; ++i) parts[i] += (F)p[(k + i) * by] * (F)q[(k + i) * step];
  for (; k < n; ++k) parts[0] += (F)p[k * by] * (F)q[k * step];
  T total = (T)((parts[0] + parts[1]) + (parts[2] + parts[3]));
  if (!isfinite(total)) bail(DOMAIN);
  return total;
}
template <class T> T dot_of(const Arr<T, 1>& a, const Arr<T, 1>& b) {
  if (a.size[0] != b.size[0]) bail(KIND);
  return product_at(a.p, a.step[0], b.p, b.step[0], a.size[0]);
}
template <class T, int A, int B> Arr<T, A + B - 2> product_of(const Arr<T, A>& a, const Arr<T, B>& b) {
  I n = a.size[A - 1], rows = A == 2 ? a.size[0] : 1, columns = B == 2 ? b.size[1] : 1, size[A + B - 2];
  if (b.size[0] != n) bail(KIND);
  if (A == 2) size[0] = rows;
  if (B == 2) size[A + B - 3] = columns;
  Arr<T, A + B - 2> out = array_of<T, A + B - 2>(size);
  for (I i = 0; i < rows; ++i) for (I j = 0; j < columns; ++j)
    out.p[i * columns + j] = product_at(a.p + i * a.step[0] * (A == 2), a.step[A - 1],
        b.p + j * b.step[B - 1] * (B == 2), b.step[0], n);
  return out;
}
"""

TENSOR_PRODUCTS = r"""// ---- products of matrices and vectors
template <class T, class Op, int A, int B> Ten<T, A + B - 2> product_of(Op, const Ten<T, A>& a, const Ten<T, B>& b) {
  constexpr int R = A + B - 2;
  if (!a.b.p || !b.b.p) bail(UNBOUND);
  I n = a.size[A - 1], rows = A == 2 ? a.size[0] : 1, columns = B == 2 ? b.size[1] : 1, size[R];
  if (b.size[0] != n || !n) bail(KIND);
  if (A == 2) size[0] = rows;
  if (B == 2) size[R - 1] = columns;
  Ten<T, R> out = fresh_ten<T, R>(size); row_made(n * count_of(out));
  kept2<Op>(a, b);
  Holds holds = next_holds;
  bool asking = TRACKED && (asks(a) || asks(b));
  if (asking && !count_of(out)) bail(EMPTY);
  touch_all(a); touch_all(b);
  for (I i = 0; i < rows; ++i) for (I j = 0; j < columns; ++j) {
    I p = a.at + i * a.step[0] * (A == 2), q = b.at + j * b.step[B - 1] * (B == 2), from = asking ? tape->edges_n : 0;
    typename Wide<T>::type total = 0;
    for (I k = 0; k < n; ++k, p += a.step[A - 1], q += b.step[0]) {
      T x = a.b.p->data[p], y = b.b.p->data[q];
      in_sum<T>(total += (typename Wide<T>::type)x * y);
      if (asking) {
        if (a.b.p->nodes) edge(a.b.p->nodes[p], y);
        if (b.b.p->nodes) edge(b.b.p->nodes[q], x);
      }
    }
    if (asking) next_holds = holds;
    out.b.p->put(i * columns + j, Num<T>{(T)total, asking ? node(from) : -1, false});
  }
  pending_n = 0; next_holds = {};
  return out;
}
"""
