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
static const I LARGEST_PRODUCT = (I)1 << 18;
static const I PIECE = 256;
// The slopes of what is there of a row of a factor, and that it is reached.
static inline void gets(const Factor& to, I row, I from, I count, const F* sums, F* slopes, unsigned char* reached) {
  const I at = row * to.row + from * to.step;
  if (to.ids) {
    for (I k = 0; k < count; ++k) if (const I id = to.ids[at + k]; id > 0) { reached[id] = 1; slopes[id] += sums[k]; }
    return;
  }
  F* mine = slopes + to.id + at;
  unsigned char* is_mine = reached + to.id + at;
  if (to.step == 1) {
    for (I k = 0; k < count; ++k) mine[k] += sums[k];
    memset(is_mine, 1, count);
  } else for (I k = 0; k < count; ++k) { is_mine[k * to.step] = 1; mine[k * to.step] += sums[k]; }
}
// The slopes of the elements of a factor: of row i what the elements of the product that it is part of have, ``step``
// after one another from ``i * next`` on, times the rows of the other factor.
template <class T> static void back_of(const Factor& to, I rows, const Factor& from, I others, I n, I next, I step,
    const F* given, const unsigned char* asked, F* slopes, unsigned char* reached) {
  if (!to.ids && to.id <= 0) return;
  F sums[PIECE];
  for (I i = 0; i < rows; ++i) for (I k = 0; k < n; k += PIECE) {
    const I count = n - k < PIECE ? n - k : PIECE;
    bool any = false;
    for (I j = others - 1; j >= 0; --j) {
      const I at = i * next + j * step;
      if (!asked[at]) continue;
      const T* data = (const T*)from.data + j * n + k;
      const F slope = given[at];
      if (any) for (I e = 0; e < count; ++e) sums[e] += slope * data[e];
      else for (I e = 0; e < count; ++e) sums[e] = slope * data[e];
      any = true;
    }
    if (any) gets(to, i, k, count, sums, slopes, reached);
  }
}
template <class T> static void back_through(const Product& made, F* slopes, unsigned char* reached) {
  const I rows = made.count / made.columns, columns = made.columns;
  const F* given = slopes + made.first;
  const unsigned char* asked = reached + made.first;
  back_of<T>(made.a, rows, made.b, columns, made.n, columns, 1, given, asked, slopes, reached);
  back_of<T>(made.b, columns, made.a, rows, made.n, 1, columns, given, asked, slopes, reached);
}
template <class T, int R> static void copy_rows(T* to, const Ten<T, R>& x, I rows, I n, I row, I step) {
  for (I i = 0; i < rows; ++i) for (I k = 0; k < n; ++k) to[i * n + k] = x.b.p->data[x.at + i * row + k * step];
}
// The numbers of a factor that is the caller's, copied once; null where there are too many of them.
template <class T, int R> static const T* given_numbers(const Ten<T, R>& x, I rows, I n, I row, I step) {
  const Weights wanted{x.b.p->place, x.at, rows, n, row, step, nullptr};
  for (I k = 0; k < tape->givens_n; ++k) {
    const Weights& one = tape->givens[k];
    const bool is_it = one.place == wanted.place && one.at == wanted.at && one.rows == rows && one.n == n;
    if (is_it && one.row == row && one.step == step) return (const T*)one.data;
  }
  if (tape->givens_n == 32) return nullptr;
  T* data = (T*)malloc(rows * n * sizeof(T) + 1);
  if (!data) bail(MEMORY);
  copy_rows(data, x, rows, n, row, step);
  tape->givens[tape->givens_n] = wanted; tape->givens[tape->givens_n++].data = data;
  return data;
}
// A factor as backward needs it: ``rows`` rows of ``n`` numbers each, which are ``read`` if the other one asks for
// gradients. Where they are a matrix of the caller's they are shared; the bytes that it needs for itself are returned.
template <class T, int R> static I begun(Factor& to, const Ten<T, R>& x, bool read, I rows, I n, I row, I step) {
  const Buf<T>* b = x.b.p;
  const bool given = b->place >= 0 && !b->dirty && (!b->nodes || b->nodes[b->n - 1] == b->nodes[0] + b->n - 1);
  const bool lists = b->nodes && !given;
  const T* known = given && read && R == 2 ? given_numbers(x, rows, n, row, step) : nullptr;
  to = {known, nullptr, b->nodes && given ? b->nodes[0] + x.at : 0, lists ? n : row, lists ? 1 : step};
  return (lists ? rows * n * sizeof(I) : 0) + (read && !known ? (rows * n * sizeof(T) + 7) / 8 * 8 : 0);
}
template <class T, int R> static void ended(Factor& to, const Ten<T, R>& x, bool read, I rows, I n, I row, I step,
    char*& room) {
  if (read && !to.data) {
    copy_rows((T*)room, x, rows, n, row, step);
    to.data = room; room += (rows * n * sizeof(T) + 7) / 8 * 8;
  }
  if (!x.b.p->nodes || to.id) return;
  I* ids = (I*)room; room += rows * n * sizeof(I); to.ids = ids;
  for (I i = 0; i < rows; ++i) for (I k = 0; k < n; ++k)
    ids[i * n + k] = x.b.p->nodes[x.at + i * row + k * step];
}
template <class T, int A, int B> static I product_made(const Ten<T, A>& a, const Ten<T, B>& b, I rows, I columns, I n) {
  if (tape->products_n == tape->products_room) {
    I room = 2 * tape->products_room + 64;
    Product* all = (Product*)realloc(tape->products, room * sizeof(Product));
    if (!all) bail(MEMORY);
    tape->products = all; tape->products_room = room;
  }
  Product& made = tape->products[tape->products_n];
  const I a_row = a.step[0] * (A == 2), a_step = a.step[A - 1], b_row = b.step[B - 1] * (B == 2), b_step = b.step[0];
  const I own_a = begun(made.a, a, asks(b), rows, n, a_row, a_step);
  const I own_b = begun(made.b, b, asks(a), columns, n, b_row, b_step);
  char* own = (char*)malloc(own_a + own_b + 1);
  if (!own) bail(MEMORY);
  made.own = own; made.back = back_through<T>; made.first = tape->first + tape->n; made.count = rows * columns;
  made.columns = columns; made.n = n;
  ended(made.a, a, asks(b), rows, n, a_row, a_step, own);
  ended(made.b, b, asks(a), columns, n, b_row, b_step, own);
  made.touched_n = pending_n;
  for (I k = 0; k < pending_n; ++k) made.touched[k] = pending[k];
  ++tape->products_n; pending_n = 0;
  for (I k = 0; k < made.count; ++k) {
    if (__builtin_expect(tape->n + 1 >= tape->n_room, 0)) tape_grow();
    tape->ends[tape->n] = tape->edges_n; tape->holds[tape->n] = next_holds; ++tape->n;
  }
  return made.first;
}
template <class T> static inline T dot(const T* x, I by, const T* y, I step, I n) {
  typename Wide<T>::type total = 0;
  I k = 0;
  if constexpr (T(0.5) != 0) if (by == 1 && step == 1 && n >= 8) {
    F parts[8] = {}, sizes[8] = {};
    for (; k + 8 <= n; k += 8) for (int i = 0; i < 8; ++i) {
      const F one = (F)x[k + i] * (F)y[k + i];
      parts[i] += one;
      if constexpr (sizeof(T) == 4) sizes[i] += fabs(one);
    }
    if constexpr (sizeof(T) == 4) for (int i = 1; i < 8; ++i) sizes[0] += sizes[i];
    in_sum<T>(sizes[0]);
    total = ((parts[0] + parts[4]) + (parts[1] + parts[5])) + ((parts[2] + parts[6]) + (parts[3] + parts[7]));
  }
  for (; k < n; ++k) in_sum<T>(total += (typename Wide<T>::type)x[k * by] * y[k * step]);
  return (T)total;
}
template <class T, class Op, int A, int B> Ten<T, A + B - 2> product_of(Op, const Ten<T, A>& a, const Ten<T, B>& b) {
  constexpr int R = A + B - 2;
  if (!a.b.p || !b.b.p) bail(UNBOUND);
  I n = a.size[A - 1], rows = A == 2 ? a.size[0] : 1, columns = B == 2 ? b.size[1] : 1, size[R];
  if (b.size[0] != n || !n) bail(KIND);
  if (A == 2) size[0] = rows;
  if (B == 2) size[R - 1] = columns;
  Ten<T, R> out = fresh_ten<T, R>(size);
  if (n * count_of(out) > LARGEST_PRODUCT) bail(MEMORY);
  kept2<Op>(a, b);
  bool asking = TRACKED && (asks(a) || asks(b));
  if (asking && !count_of(out)) bail(EMPTY);
  touch_all(a); touch_all(b);
  I first = asking ? product_made(a, b, rows, columns, n) : -1;
  if (asking) out.b.p->track();
  for (I i = 0; i < rows; ++i) for (I j = 0; j < columns; ++j) {
    const I at = i * columns + j;
    out.b.p->data[at] = dot(a.b.p->data + a.at + i * a.step[0] * (A == 2), a.step[A - 1],
        b.b.p->data + b.at + j * b.step[B - 1] * (B == 2), b.step[0], n);
    if (asking) out.b.p->nodes[at] = first + at;
  }
  pending_n = 0; next_holds = {};
  return out;
}
"""
