"""C++ of typed programs: lists, deques, dicts, sets, sorts and heaps."""

CONTAINERS = r"""// ---- items: equal also if they are one object, which of two that are no numbers nobody can tell
template <class T> bool item_eq(const T& a, const T& b) { return eq(a, b); }
static inline bool item_eq(F a, F b) { if (a != a && b != b) bail(DOMAIN); return a == b; }
static inline bool item_eq(Dyn a, Dyn b) { if (a.tag == 2 && b.tag == 2) item_eq(a.d, b.d); return eq(a, b); }
static inline bool item_eq(const Worded& a, const Worded& b) { return a.is_text || b.is_text ? eq(a, b)
    : item_eq(a.d, b.d); }
static inline void orderly(I) {}
static inline void orderly(bool) {}
static inline void orderly(const Str&) {}
template <class... B> static inline bool all_or_none(bool first, B... rest) {
  if ((... || (rest != first))) bail(KIND);
  return first;
}
static inline void orderly(F a) { if (a != a) bail(DOMAIN); }
static inline void orderly(Dyn a) { if (a.tag == 2) orderly(a.d); }
template <class T> void orderly(const Opt<T>& a) { if (a.has) orderly(a.v); }
template <class T> void orderly(const T&) {}

// ---- what takes the results of a function that hands them out, and tells whether it wants no more
template <class T> struct Taker {
  const void* of;
  bool (*call)(const void*, const T&);
  template <class L> Taker(const L& taker) : of(&taker), call([](const void* p, const T& item) {
      return (*(const L*)p)(item); }) {}
  bool operator()(const T& item) const { return call(of, item); }
};

// ---- lists, deques and bytes
struct Made;
template <class T, int kind> struct List {
  I refs = 1, n = 0, head = 0, room = 0, version = 0;
  T* data = nullptr;
  PyObject* from = nullptr;
  bool dirty = false;
  I most = -1;  // that a deque holds; any number below 0
  void empty() { for (I k = 0; k < n; ++k) data[head + k].~T(); if (data) give(data, room * sizeof(T));
      data = nullptr; n = head = room = 0; }
  void reserve(I more) {
    if (head + n + more <= room) return;
    if (head > n && n + more <= room) {  // there is room in front
      for (I k = 0; k < n; ++k) { new (data + k) T(static_cast<T&&>(data[head + k])); data[head + k].~T(); }
      head = 0; return;
    }
    I wanted = n + more < 4 ? 4 : (n + more) * 2;
    T* other = (T*)take(wanted * sizeof(T));
    wanted = (((I)1 << class_of(wanted * sizeof(T))) / (I)sizeof(T));
    for (I k = 0; k < n; ++k) { new (other + k) T(static_cast<T&&>(data[head + k])); data[head + k].~T(); }
    if (data) give(data, room * sizeof(T));
    data = other; room = wanted; head = 0;
  }
  void changed() { dirty = true; ++version; }
  void add(const T& item) { new (data + head + n++) T(item); }
  void add(const T* items, I step, I count) { T* to = data + head + n; for (I k = 0; k < count; ++k)
      new (to + k) T(items[k * step]); n += count; }
  void push(T item) { reserve(1); new (data + head + n) T(static_cast<T&&>(item)); ++n; changed();
      if constexpr (kind == 1) if (most >= 0 && n > most) pop_front(); }
  void push_front(T item) {
    if (!head) {
      I wanted = room < 8 ? 8 : 2 * room, shift = wanted - n - wanted / 4;
      T* other = (T*)take(wanted * sizeof(T));
      wanted = (((I)1 << class_of(wanted * sizeof(T))) / (I)sizeof(T));
      for (I k = 0; k < n; ++k) { new (other + shift + k) T(static_cast<T&&>(data[k])); data[k].~T(); }
      if (data) give(data, room * sizeof(T));
      data = other; room = wanted; head = shift;
    }
    new (data + --head) T(static_cast<T&&>(item)); ++n; changed();
    if constexpr (kind == 1) if (most >= 0 && n > most) pop();
  }
  void limit(I number) { if (number < 0) bail(DOMAIN); most = number; while (n > most) pop_front(); }
  T& at(I i) { return data[head + place(i, n)]; }
  void set(I i, T item) { data[head + place(i, n)] = static_cast<T&&>(item); dirty = true; }
  T pop() { if (!n) bail(EMPTY); T* last = data + head + --n; T found(static_cast<T&&>(*last)); last->~T();
      changed(); return found; }
  T pop_front() { if (!n) bail(EMPTY); T* first = data + head; T found(static_cast<T&&>(*first)); first->~T();
      ++head; --n; if (!n) head = 0; changed(); return found; }
  T pop(I i) {
    i = place(i, n);
    if (i == 0) return pop_front();
    T found(static_cast<T&&>(data[head + i]));
    for (I k = i; k + 1 < n; ++k) data[head + k] = static_cast<T&&>(data[head + k + 1]);
    data[head + --n].~T(); changed(); return found;
  }
  void insert(I i, T item) {
    if (most >= 0 && n >= most) bail(DOMAIN);
    if (i < 0) { i += n; if (i < 0) i = 0; }
    if (i > n) i = n;
    if (i == 0) { push_front(static_cast<T&&>(item)); return; }
    push(item);
    for (I k = n - 1; k > i; --k) data[head + k] = static_cast<T&&>(data[head + k - 1]);
    data[head + i] = static_cast<T&&>(item);
  }
  void reverse() { for (I a = 0, b = n - 1; a < b; ++a, --b) exchange(data[head + a], data[head + b]); changed(); }
  static void exchange(T& a, T& b) { T c(static_cast<T&&>(a)); a = static_cast<T&&>(b); b = static_cast<T&&>(c); }
};
// the items of a list that stays as long as it is while they are used; none where there is no such list
template <class T> struct Strip {
  T* at; I n;
  T& operator[](I i) const { return at[place(i, n)]; }
  bool covers(I first, I end) const { return first >= 0 && first <= end && end <= n; }
};
template <bool stored, class T, int k> Strip<T> strip_of(const Ref<List<T, k>>& a) {
  if (!a.p) return Strip<T>{nullptr, 0};
  if (stored) a.p->dirty = true;
  return Strip<T>{a.p->data + a.p->head, a.p->n};
}
template <bool stored, class T, int k, class... More> auto strip_of(const Ref<List<T, k>>& a, I i, More... more) {
  typedef decltype(strip_of<stored>(a.p->data[0], more...)) Found;
  if (!a.p) return Found{nullptr, 0};
  if (i < 0) i += a.p->n;
  if ((U)i >= (U)a.p->n) return Found{nullptr, 0};
  return strip_of<stored>(a.p->data[a.p->head + i], more...);
}
template <class T> void rotate(const Ref<List<T, 1>>& a, I count) {
  List<T, 1>& l = *a.p;
  if (l.n < 2) return;
  count = mod(count, l.n);
  if (count <= l.n / 2) for (; count; --count) l.push_front(l.pop());
  else for (; count < l.n; ++count) l.push(l.pop_front());
  l.changed();
}
template <class T, int k> I size(const Ref<List<T, k>>& a) { return a->n; }
static inline I size(const Str& a) { return a.n(); }
template <class T> static bool all_longer(const T& rows, I n) {
  for (I k = 0; k < size(rows); ++k) if (size(rows->at(k)) <= n) return false;
  return size(rows) > 0;
}
template <class T> U hash_of(const Ref<List<T, 4>>& a) { U h = a->n;
    for (I i = 0; i < a->n; ++i) h = mixed(h * 31 + hash_of(a->data[a->head + i])); return h; }
template <class T, int k> bool truth(const Ref<List<T, k>>& a) { return a->n != 0; }
template <class T, int k> T& at(const Ref<List<T, k>>& a, I i) { return a->at(i); }
template <class T, int k> bool eq(const Ref<List<T, k>>& a, const Ref<List<T, k>>& b) {
  if (a.p == b.p) return true;
  if (a->n != b->n) return false;
  for (I i = 0; i < a->n; ++i) if (!item_eq(a->data[a->head + i], b->data[b->head + i])) return false;
  return true;
}
template <class T, int k> bool lt(const Ref<List<T, k>>& a, const Ref<List<T, k>>& b) {
  for (I i = 0; i < a->n && i < b->n; ++i) if (!item_eq(a->at(i), b->at(i))) return lt(a->at(i), b->at(i));
  return a->n < b->n;
}
template <class T, int k> bool le(const Ref<List<T, k>>& a, const Ref<List<T, k>>& b) {
  for (I i = 0; i < a->n && i < b->n; ++i) if (!item_eq(a->at(i), b->at(i))) return le(a->at(i), b->at(i));
  return a->n <= b->n;
}
template <class T, int k> void orderly(const Ref<List<T, k>>& a) { for (I i = 0; i < a->n; ++i) orderly(a->at(i)); }
template <class L> Ref<L> list_of(I n) { Ref<L> out = made<L>(); out->reserve(n); return out; }
template <class T, int k> Ref<List<T, k>> copy(const Ref<List<T, k>>& a) {
  Ref<List<T, k>> out = list_of<List<T, k>>(a->n);
  out->add(a->data + a->head, 1, a->n);
  out->most = a->most; return out;
}
template <class T> Opt<I> longest(const Ref<List<T, 1>>& a) { return a->most < 0 ? Opt<I>() : Opt<I>(a->most); }
template <class T, int k> Ref<List<T, k>> cut(const Ref<List<T, k>>& a, I from, I step, I count) {
  Ref<List<T, k>> out = list_of<List<T, k>>(count);
  if (step == 1) out->add(a->data + a->head + from, 1, count);
  else out->add(a->data + a->head + from, step, count);
  return out;
}
template <class T, int k> void erase(const Ref<List<T, k>>& a, I from, I step, I count) {
  if (step != 1) bail(KIND);
  List<T, k>& l = *a.p;
  for (I i = from; i + count < l.n; ++i) l.data[l.head + i] = static_cast<T&&>(l.data[l.head + i + count]);
  for (I i = 0; i < count; ++i) l.data[l.head + --l.n].~T();
  l.changed();
}
template <class T, int k> void splice(const Ref<List<T, k>>& a, const Cut& cut, const Ref<List<T, k>>& b) {
  List<T, k>& l = *a.p;
  if (cut.step != 1) {
    if (b->n != cut.count) bail(KIND);
    for (I i = 0; i < b->n; ++i) l.data[l.head + cut.from + i * cut.step] = b->data[b->head + i];
    l.changed();
    return;
  }
  I more = b->n - cut.count, after = cut.from + cut.count;
  if (more > 0) {
    l.reserve(more);
    for (I i = 0; i < more; ++i) l.add(T());
    for (I i = l.n - 1; i >= after + more; --i) l.data[l.head + i] = static_cast<T&&>(l.data[l.head + i - more]);
  } else if (more < 0) {
    for (I i = after; i < l.n; ++i) l.data[l.head + i + more] = static_cast<T&&>(l.data[l.head + i]);
    for (I i = 0; i < -more; ++i) l.data[l.head + --l.n].~T();
  }
  for (I i = 0; i < b->n; ++i) l.data[l.head + cut.from + i] = b->data[b->head + i];
  l.changed();
}
template <class T, int k, int m> void extend(const Ref<List<T, k>>& a, const Ref<List<T, m>>& b) {
  I n = b->n; a->reserve(n);
  for (I i = 0; i < n; ++i) a->add(b->data[b->head + i]);
  a->changed();
  while (a->most >= 0 && a->n > a->most) a->pop_front();
}
template <class T, int k> Ref<List<T, k>> concat(const Ref<List<T, k>>& a, const Ref<List<T, k>>& b) {
  if (a->most >= 0) bail(KIND);
  Ref<List<T, k>> out = list_of<List<T, k>>(a->n + b->n);
  extend(out, a); extend(out, b); return out;
}
template <class T, int k> void append(Ref<List<T, k>>& a, const Ref<List<T, k>>& b) { Ref<List<T, k>> mine = b;
    extend(a, mine); }
template <class T, int k> Ref<List<T, k>> repeat(const Ref<List<T, k>>& a, I times_) {
  if (a->most >= 0) bail(KIND);
  if (times_ < 0) times_ = 0;
  if (a->n && times_ > ((I)1 << 30) / a->n) bail(MEMORY);
  Ref<List<T, k>> out = list_of<List<T, k>>(a->n * times_);
  if (a->n == 1) out->add(a->data + a->head, 0, times_);
  else for (I r = 0; r < times_; ++r) out->add(a->data + a->head, 1, a->n);
  return out;
}
static Str repeat(const Str& a, I times_) {
  if (times_ < 0) times_ = 0;
  if (a.n() && times_ > ((I)1 << 28) / a.n()) bail(MEMORY);
  Str out = str_of(a.n() * times_);
  for (I r = 0; r < times_; ++r) memcpy(out.data() + r * a.n(), a.data(), 4 * a.n());
  return out;
}
template <class T, int k> bool has(const Ref<List<T, k>>& a, const T& item) { for (I i = 0; i < a->n;
    ++i) if (item_eq(a->data[a->head + i], item)) return true; return false; }
template <class T, int k> I index_of(const Ref<List<T, k>>& a, const T& item) { for (I i = 0; i < a->n;
    ++i) if (item_eq(a->data[a->head + i], item)) return i; bail(KEY); }
template <class T, int k> I count_of(const Ref<List<T, k>>& a, const T& item) { I c = 0; for (I i = 0; i < a->n;
    ++i) c += item_eq(a->data[a->head + i], item); return c; }
static I find_in(const Str& a, const Str& b) {
  for (I i = 0; i + b.n() <= a.n(); ++i) if (!b.n() || !memcmp(a.data() + i, b.data(), 4 * b.n())) return i;
  return -1;
}
static bool has(const Str& a, const Str& b) { return find_in(a, b) >= 0; }
static I index_of(const Str& a, const Str& b) { I i = find_in(a, b); if (i < 0) bail(KEY); return i; }
static I count_of(const Str& a, const Str& b) {
  if (!b.n()) return a.n() + 1;
  I c = 0;
  for (I i = 0; i + b.n() <= a.n();) if (!memcmp(a.data() + i, b.data(), 4 * b.n())) { ++c; i += b.n(); } else ++i;
  return c;
}

// ---- a stable sort, by keys beside the items
template <class K> void sort_places(const K* keys, I* order, I* spare, I n, bool down) {
  if (n <= 8) {
    for (I k = 1; k < n; ++k) {
      I place = order[k], at = k;
      while (at && (down ? lt(keys[order[at - 1]], keys[place]) : lt(keys[place], keys[order[at - 1]]))) {
        order[at] = order[at - 1]; --at; }
      order[at] = place;
    }
    return;
  }
  I half = n / 2;
  sort_places(keys, order, spare, half, down); sort_places(keys, order + half, spare, n - half, down);
  I a = 0, b = half, o = 0;
  while (a < half && b < n) {
    bool second = down ? lt(keys[order[a]], keys[order[b]]) : lt(keys[order[b]], keys[order[a]]);
    spare[o++] = second ? order[b++] : order[a++];
  }
  while (a < half) spare[o++] = order[a++];
  while (b < n) spare[o++] = order[b++];
  memcpy(order, spare, n * sizeof(I));
}
// numbers whose order is that of their codes, digit by digit (Knuth, The Art of Computer Programming 3, 5.2.5)
static inline U code_of_number(F v) { v += 0.0; U code; memcpy(&code, &v, 8); return code >> 63 ? ~code
    : code | ((U)1 << 63); }
static inline U code_of_number(I v) { return (U)v ^ ((U)1 << 63); }
template <class K> static void sort_numbers(const K* keys, I* order, I n, bool down) {
  struct Pair { U code; I place; };
  Pair* from = (Pair*)take(2 * n * sizeof(Pair)), *to = from + n, *both = from;
  I counts[6][2048]; memset(counts, 0, sizeof counts);
  for (I k = 0; k < n; ++k) {
    U code = code_of_number(keys[k]); if (down) code = ~code;
    from[k] = {code, k};
    for (int d = 0; d < 6; ++d) ++counts[d][(code >> (11 * d)) & 2047];
  }
  for (int d = 0; d < 6; ++d) {
    I* count = counts[d], total = 0;
    if (count[(from[0].code >> (11 * d)) & 2047] == n) continue;
    for (int k = 0; k < 2048; ++k) { I one = count[k]; count[k] = total; total += one; }
    for (I k = 0; k < n; ++k) to[count[(from[k].code >> (11 * d)) & 2047]++] = from[k];
    Pair* other = from; from = to; to = other;
  }
  for (I k = 0; k < n; ++k) order[k] = from[k].place;
  give(both, 2 * n * sizeof(Pair));
}
template <class K> static void sort_many(const K* keys, I* order, I* spare, I n, bool down) {
    sort_places(keys, order, spare, n, down); }
static void sort_many(const F* keys, I* order, I* spare, I n, bool down) {
    if (n < 500) sort_places(keys, order, spare, n, down); else sort_numbers(keys, order, n, down); }
static void sort_many(const I* keys, I* order, I* spare, I n, bool down) {
    if (n < 500) sort_places(keys, order, spare, n, down); else sort_numbers(keys, order, n, down); }
template <class T, int k, class K, int m> void sort_by(const Ref<List<T, k>>& a, const Ref<List<K, m>>& keys,
    bool down) {
  I n = a->n;
  if (keys->n != n) bail(CHANGED);
  for (I i = 0; i < n; ++i) orderly(keys->data[keys->head + i]);
  I* order = (I*)take((2 * n + 2) * sizeof(I));
  for (I i = 0; i < n; ++i) order[i] = i;
  sort_many(keys->data + keys->head, order, order + n, n, down);
  Ref<List<T, k>> old = copy(a);
  for (I i = 0; i < n; ++i) a->data[a->head + i] = old->data[old->head + order[i]];
  give(order, (2 * n + 2) * sizeof(I));
  a->changed();
}

// ---- heaps, item by item as the module heapq moves them
template <class T, int k> void sift_down(List<T, k>& l, I start, I pos) {
  T* h = l.data + l.head; T item = h[pos];
  while (pos > start) { I up = (pos - 1) >> 1; if (!lt(item, h[up])) break; h[pos] = h[up]; pos = up; }
  h[pos] = item;
}
template <class T, int k> void sift_up(List<T, k>& l, I pos) {
  T* h = l.data + l.head; I end = l.n, start = pos; T item = h[pos];
  while (2 * pos + 1 < end) {
    I child = 2 * pos + 1;
    if (child + 1 < end && !lt(h[child], h[child + 1])) ++child;
    h[pos] = h[child]; pos = child;
  }
  h[pos] = item; sift_down(l, start, pos);
}
template <class T, int k> void heap_push(const Ref<List<T, k>>& a, T item) { orderly(item); a->push(item);
    sift_down(*a.p, 0, a->n - 1); }
template <class T, int k> T heap_pop(const Ref<List<T, k>>& a) {
  T last = a->pop();
  if (!a->n) return last;
  T first = a->at(0); a->set(0, last); sift_up(*a.p, 0); return first;
}
template <class T, int k> T heap_replace(const Ref<List<T, k>>& a, T item) {
  orderly(item);
  if (!a->n) bail(KEY);
  T first = a->at(0); a->set(0, item); sift_up(*a.p, 0); return first;
}
template <class T, int k> T heap_pass(const Ref<List<T, k>>& a, T item) {
  orderly(item);
  return a->n && lt(a->at(0), item) ? heap_replace(a, item) : item;
}
template <class T, int k> void heapify(const Ref<List<T, k>>& a) { for (I i = 0; i < a->n; ++i) orderly(a->at(i));
    for (I i = a->n / 2 - 1; i >= 0; --i) sift_up(*a.p, i); a->changed(); }
template <class T, int k> I bisect(const Ref<List<T, k>>& a, const T& x, bool right) {
  I lo = 0, hi = a->n;
  while (lo < hi) { I m = (lo + hi) / 2; if (right ? !lt(x, a->at(m)) : lt(a->at(m), x)) lo = m + 1; else hi = m; }
  return lo;
}

// ---- dicts and sets, in the order in which keys came
template <class A, class B> constexpr bool is_same = false;
template <class A> constexpr bool is_same<A, A> = true;
template <class K, class V> struct Entry { U hash; bool live; K key; V value; };
template <class K, class V, int kind> struct Dict {
  typedef Entry<K, V> E;
  I refs = 1, n = 0, used = 0, room = 0, version = 0, given = 0, begun = 0;  // no entry before ``begun`` is live
  E* entries = nullptr;
  int32_t* table = nullptr;
  PyObject* from = nullptr;
  bool dirty = false, removed = false;
  bool jumbled = false;  // the order of its keys is not Python's
  void empty() {
    for (I k = 0; k < used; ++k) entries[k].~E();
    if (entries) { give(entries, room * sizeof(E)); give(table, 2 * room * sizeof(int32_t)); }
    entries = nullptr; n = used = room = 0;
  }
  void grow() {
    I wanted = n < 4 ? 8 : (n >= room / 2 ? 2 * room : room);
    if (wanted > ((I)1 << 29)) bail(MEMORY);
    E* other = (E*)take(wanted * sizeof(E));
    int32_t* slots = (int32_t*)take(2 * wanted * sizeof(int32_t));
    memset(slots, 0, 2 * wanted * sizeof(int32_t));
    I count = 0; U mask = 2 * wanted - 1;
    for (I k = 0; k < used; ++k) {
      E& e = entries[k];
      if (e.live) {
        U s = e.hash & mask;
        while (slots[s]) s = (s + 1) & mask;
        new (other + count) E{e.hash, true, static_cast<K&&>(e.key), static_cast<V&&>(e.value)};
        slots[s] = (int32_t)++count;
      }
      e.~E();
    }
    if (entries) { give(entries, room * sizeof(E)); give(table, 2 * room * sizeof(int32_t)); }
    entries = other; table = slots; used = count; room = wanted; begun = 0;
  }
  E* find(const K& key) {
    if (!n) return nullptr;
    if constexpr (is_same<K, I>)  // most of such dicts are of the numbers 0, 1, 2, ..
      if ((U)key < (U)used && entries[key].live && entries[key].key == key) return entries + key;
    U h = hash_of(key), mask = 2 * room - 1;
    for (U s = h & mask; table[s]; s = (s + 1) & mask) { E& e = entries[table[s] - 1];
        if (e.live && e.hash == h && item_eq(e.key, key)) return &e; }
    return nullptr;
  }
  E* place_of(const K& key) {
    E* found = find(key);
    if (found) return found;
    if (used == room) grow();
    U h = hash_of(key), mask = 2 * room - 1, s = h & mask;
    while (table[s]) s = (s + 1) & mask;
    new (entries + used) E{h, true, key, V{}};
    table[s] = (int32_t)++used; ++n; dirty = true; ++version;
    return entries + used - 1;
  }
  V& at(const K& key) { E* e = find(key); if (!e) bail(KEY); return e->value; }
  void set(const K& key, V value) { E* e = place_of(key); e->value = static_cast<V&&>(value); dirty = true; }
  V pop(const K& key) { E* e = find(key); if (!e) bail(KEY); V found = e->value; drop(e); return found; }
  void drop(E* e) { if (kind == 2 && from) bail(KIND); e->live = false; --n; dirty = removed = true; ++version; }
  bool discard(const K& key) { E* e = find(key); if (e) drop(e); return e; }
  void clear() { for (I k = 0; k < used; ++k) if (entries[k].live) drop(entries + k); }
  void add(const K& key) { place_of(key); }
  E* outermost(bool last) {
    in_order(); if (!n) bail(EMPTY);
    if (!last) { while (!entries[begun].live) ++begun; return entries + begun; }
    I k = used - 1; while (!entries[k].live) --k; return entries + k;
  }
  void move_to_end(const K& key) { in_order(); E* e = find(key); if (!e) bail(KEY); K k = e->key; V v = e->value;
      drop(e); set(k, v); }
  void in_order() const { if (__builtin_expect(jumbled, 0)) bail(KIND); }
};
template <class K> struct Set : Dict<K, None_, 2> {};
template <class K, class V, int k> I size(const Ref<Dict<K, V, k>>& a) { return a->n; }
template <class K> I size(const Ref<Set<K>>& a) { return a->n; }
template <class K, class V, int k> bool truth(const Ref<Dict<K, V, k>>& a) { return a->n != 0; }
template <class K> bool truth(const Ref<Set<K>>& a) { return a->n != 0; }
template <class K, class V, int k> bool has(const Ref<Dict<K, V, k>>& a, const K& key) { return a->find(key); }
template <class K> bool has(const Ref<Set<K>>& a, const K& key) { return a->find(key); }
template <class K, class V, int k> Ref<Dict<K, V, k>> copy(const Ref<Dict<K, V, k>>& a) {
  Ref<Dict<K, V, k>> out = made<Dict<K, V, k>>(); out->jumbled = a->jumbled;
  for (I i = 0; i < a->used; ++i) if (a->entries[i].live) out->set(a->entries[i].key, a->entries[i].value);
  return out;
}
template <class K, class V, int k> V counted(const Ref<Dict<K, V, k>>& a, const K& key, V none) {
    auto* e = a->find(key); return e ? e->value : none; }
template <class K, class V, int k> Opt<V> get(const Ref<Dict<K, V, k>>& a, const K& key) { auto* e = a->find(key);
    if (e) return Opt<V>(e->value); return Opt<V>(); }

// ---- values of one type as values of a wider one
template <class To> struct As {
  static const To& of(const To& v) { return v; }
  static To of(const None_&) { return To(); }  // what an empty container hands out, which never is
};
template <> struct As<None_> { static None_ of(const None_& v) { return v; } };
template <> struct As<Dyn> {
  template <class T> static Dyn of(const T& v) { return Dyn(v); }
  static Dyn of(const None_&) { return Dyn(); }
};
template <> struct As<Worded> {
  static Worded of(const Worded& v) { return v; }
  static Worded of(const Str& v) { return Worded(v); }
  template <class T> static Worded of(const T& v) { return Worded(As<Dyn>::of(v)); }
};
template <class T> struct As<Opt<T>> {
  static Opt<T> of(const Opt<T>& v) { return v; }
  static Opt<T> of(const None_&) { return Opt<T>(); }
  template <class S> static Opt<T> of(const Opt<S>& v) { return v.has ? Opt<T>(As<T>::of(v.v)) : Opt<T>(); }
  template <class S> static Opt<T> of(const S& v) { return Opt<T>(As<T>::of(v)); }
};
"""

HELPERS = r"""// ---- Python's small functions
static inline I range_size(I a, I b, I s) { if (!s) bail(ZERO);
    if (a > ((I)1 << 62) || a < -((I)1 << 62) || b > ((I)1 << 62) || b < -((I)1 << 62)) bail(OVERFLOW);
    return s > 0 ? (a < b ? (b - a - 1) / s + 1 : 0) : (b < a ? (a - b - 1) / -s + 1 : 0); }
template <class D> bool next_live(D* d, I& k, I version) { if (d->version != version) bail(CHANGED); d->in_order();
    while (k < d->used && !d->entries[k].live) ++k; return k < d->used; }
template <class L> bool unchanged(L* l, I version) { if (l->version != version) bail(CHANGED); return true; }
template <class T> I versions_of(const T& rows) {
    I total = 0; for (I k = 0; k < size(rows); ++k) total += rows->at(k)->version; return total; }
template <class T> bool unchanged_all(const T& rows, I versions) {
    if (versions_of(rows) != versions) bail(CHANGED); return true; }
static I code_of(const Str& s) { if (s.n() != 1) bail(KIND); return *s.data(); }
static Str letter_of(I c) { if (c < 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) bail(DOMAIN);
    return letter((uint32_t)c); }
static bool is_digit(uint32_t c) { return c >= '0' && c <= '9'; }
static bool is_upper(uint32_t c) { return c >= 'A' && c <= 'Z'; }
static bool is_lower(uint32_t c) { return c >= 'a' && c <= 'z'; }
static bool is_alpha(uint32_t c) { return is_upper(c) || is_lower(c); }
static bool is_alnum(uint32_t c) { return is_alpha(c) || is_digit(c); }
static bool is_space(uint32_t c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }
static bool every(const Str& s, bool (*test)(uint32_t), bool cased) {
  bool seen = false;
  for (I k = 0; k < s.n(); ++k) {
    uint32_t c = s.data()[k];
    if (c > 127) bail(DOMAIN);
    if (cased && !is_alpha(c)) continue;
    if (!test(c)) return false;
    seen = true;
  }
  return seen;
}
static Str lowered(const Str& s) { Str out = str_of(s.n()); for (I k = 0; k < s.n(); ++k) {
    uint32_t c = s.data()[k]; if (c > 127) bail(DOMAIN); out.data()[k] = is_upper(c) ? c + 32 : c; } return out; }
static Str uppered(const Str& s) { Str out = str_of(s.n()); for (I k = 0; k < s.n(); ++k) {
    uint32_t c = s.data()[k]; if (c > 127) bail(DOMAIN); out.data()[k] = is_lower(c) ? c - 32 : c; } return out; }
static bool startswith(const Str& s, const Str& t) {
    return t.n() <= s.n() && !memcmp(s.data(), t.data(), 4 * t.n()); }
static bool endswith(const Str& s, const Str& t) { return t.n() <= s.n() && !memcmp(s.data() + s.n() - t.n(),
    t.data(), 4 * t.n()); }
static Str joined(const Str& by, const Ref<List<Str, 0>>& parts) { Str out; for (I k = 0; k < parts->n; ++k) {
    if (k) append(out, by); append(out, parts->at(k)); } return out; }
static I parsed(const Str& s) {
  I k = 0, n = s.n(), sign = 1, v = 0;
  if (k < n && (s.data()[k] == '-' || s.data()[k] == '+')) sign = s.data()[k++] == '-' ? -1 : 1;
  if (k == n) bail(DOMAIN);
  for (; k < n; ++k) { if (!is_digit(s.data()[k])) bail(DOMAIN); v = plus(times(v, (I)10), (I)(s.data()[k] - '0')); }
  return sign * v;
}
static I digit_of(uint32_t c) { return is_digit(c) ? c - '0' : is_lower(c) ? c - 'a' + 10 : is_upper(c) ? c - 'A' + 10
    : 99; }
static I parsed(const Str& s, I base) {
  I k = 0, n = s.n(), v = 0;
  if (base < 2 || base > 36) bail(DOMAIN);
  bool below = n && s.data()[0] == '-';
  if (n && (below || s.data()[0] == '+')) ++k;
  if (k == n) bail(DOMAIN);
  for (; k < n; ++k) { I digit = digit_of(s.data()[k]); if (digit >= base) bail(DOMAIN);
      v = plus(times(v, base), digit); }
  return below ? -v : v;
}
static Str digits_of(I v, I base, const char* prefix, const char* letters) {
  char buffer[72]; char* at_ = buffer + 71; *at_ = 0;
  U u = v < 0 ? 0 - (U)v : (U)v;
  do { *--at_ = letters[u % base]; u /= base; } while (u);
  for (I k = strlen(prefix); k; --k) *--at_ = prefix[k - 1];
  if (v < 0) *--at_ = '-';
  return str_from(at_);
}
static Str in_base(I v, I base) { return digits_of(v, base, base == 2 ? "0b" : base == 8 ? "0o" : "0x",
    "0123456789abcdef"); }
// what stands behind the colon of a format: an alignment, zeros in front, a width, digits behind the point, a letter
struct Format { uint32_t align = 0, letter = 0; bool zeros = false; I width = 0, digits = -1; };
static Format format_of(const Str& s) {
  Format f; I k = 0, n = s.n(); const uint32_t* c = s.data();
  auto number = [&]() { I v = 0; for (; k < n && is_digit(c[k]); ++k) v = plus(times(v, (I)10), (I)(c[k] - '0'));
      if (v > 1000) bail(MEMORY); return v; };
  if (k < n && (c[k] == '<' || c[k] == '>')) f.align = c[k++];
  if (k < n && c[k] == '0') { if (f.align) bail(DOMAIN); f.zeros = true; ++k; }
  f.width = number();
  if (k < n && c[k] == '.') { if (++k == n || !is_digit(c[k])) bail(DOMAIN); f.digits = number(); }
  if (k < n) f.letter = c[k++];
  if (k < n) bail(DOMAIN);
  return f;
}
static Str aligned(const Str& s, const Format& f, bool to_right) {
  I more = f.width - s.n();
  if (more <= 0) return s;
  I sign = f.zeros && s.n() && s.data()[0] == '-', left = (f.align ? f.align == '>' : to_right) ? more : 0;
  Str out = str_of(s.n() + more);
  for (I k = 0, from = 0; k < out.n(); ++k) {
    bool is_filling = left ? k >= sign && k < sign + left : k >= s.n();
    out.data()[k] = is_filling ? (f.zeros ? '0' : ' ') : s.data()[from++];
  }
  return out;
}
static Str formatted(I v, const Str& spec) {
  Format f = format_of(spec);
  I base = f.letter == 'b' ? 2 : f.letter == 'o' ? 8 : f.letter == 'x' || f.letter == 'X' ? 16 : 10;
  if (f.digits >= 0 || (base == 10 && f.letter && f.letter != 'd')) bail(DOMAIN);
  return aligned(digits_of(v, base, "", f.letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef"), f, true);
}
static Str formatted(F v, const Str& spec) {
  Format f = format_of(spec);
  if (!isfinite(v) || (f.letter != 'f' && f.letter != 'e')) bail(DOMAIN);
  char* found = PyOS_double_to_string(v, (char)f.letter, (int)(f.digits < 0 ? 6 : f.digits), 0, nullptr);
  if (!found) { PyErr_Clear(); bail(MEMORY); }
  Str s = str_from(found); PyMem_Free(found);
  return aligned(s, f, true);
}
static Str formatted(const Str& s, const Str& spec) {
  Format f = format_of(spec);
  if (f.zeros || f.digits >= 0 || (f.letter && f.letter != 's')) bail(DOMAIN);
  return aligned(s, f, false);
}
static bool is_blank(uint32_t c) { if (c > 127) bail(DOMAIN); return is_space(c); }
static F parsed_float(const Str& s) {
  I from = 0, to = s.n(), digits = 0;
  while (from < to && is_blank(s.data()[from])) ++from;
  while (from < to && is_blank(s.data()[to - 1])) --to;
  char text[64], *end;
  if (from == to || to - from >= 64) bail(DOMAIN);
  for (I k = from; k < to; ++k) {
    const uint32_t c = s.data()[k];
    if (!is_digit(c) && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E') bail(DOMAIN);
    digits += is_digit(c); text[k - from] = (char)c;
  }
  text[to - from] = 0;
  const F found = strtod(text, &end);
  if (!digits || *end) bail(DOMAIN);
  return found;
}
template <class K, class V, int k> K first_key(const Ref<Dict<K, V, k>>& d) { return d->outermost(false)->key; }
template <class T, int k> T first_item(const Ref<List<T, k>>& l) { if (!l->n) bail(EMPTY); return l->at(0); }
static Str piece(const Str& s, I from, I to) { return cut(s, from, 1, to > from ? to - from : 0); }
template <class T> Ref<List<T, 0>> parts_of(const Str& s) {
  Ref<List<T, 0>> out = made<List<T, 0>>();
  for (I k = 0, n = s.n(); k < n;) {
    while (k < n && is_blank(s.data()[k])) ++k;
    I from = k; while (k < n && !is_blank(s.data()[k])) ++k;
    if (k > from) out->push(As<T>::of(piece(s, from, k)));
  }
  return out;
}
static Ref<List<I, 2>> encoded(const Str& s) {
  auto out = list_of<List<I, 2>>(s.n());
  for (I k = 0; k < s.n(); ++k) {
    I c = s.data()[k];
    if (c >= 0xd800 && c < 0xe000) bail(DOMAIN);
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    out->push(!more ? c : (0xff00 >> (more + 1) & 0xff) | c >> 6 * more);
    while (more--) out->push(0x80 | (c >> 6 * more & 0x3f));
  }
  return out;
}
static I next_in(const Str& s, const Str& by, I from) { for (I k = from; k + by.n() <= s.n(); ++k)
    if (!memcmp(s.data() + k, by.data(), 4 * by.n())) return k; return -1; }
template <class T> Ref<List<T, 0>> parts_of(const Str& s, const Str& by) {
  if (!by.n()) bail(DOMAIN);
  Ref<List<T, 0>> out = made<List<T, 0>>(); I from = 0;
  for (I k; (k = next_in(s, by, from)) >= 0; from = k + by.n()) out->push(As<T>::of(piece(s, from, k)));
  out->push(As<T>::of(piece(s, from, s.n()))); return out;
}
template <bool left, bool right> Str stripped(const Str& s) { I a = 0, b = s.n();
  if (left) while (a < b && is_blank(s.data()[a])) ++a;
  if (right) while (b > a && is_blank(s.data()[b - 1])) --b;
  return piece(s, a, b); }
static bool is_among(const Str& all, uint32_t c) { for (I k = 0; k < all.n(); ++k) if (all.data()[k] == c) return true;
    return false; }
template <bool left, bool right> Str stripped(const Str& s, const Str& all) { I a = 0, b = s.n();
  if (left) while (a < b && is_among(all, s.data()[a])) ++a;
  if (right) while (b > a && is_among(all, s.data()[b - 1])) --b;
  return piece(s, a, b); }
static Str replaced(const Str& s, const Str& old, const Str& by) {
  if (!old.n()) bail(DOMAIN);
  Str out; I from = 0;
  for (I k; (k = next_in(s, old, from)) >= 0; from = k + old.n()) { append(out, piece(s, from, k)); append(out, by); }
  append(out, piece(s, from, s.n())); return out; }
template <class T, class D> Ref<List<T, 0>> items_of(const Ref<D>& a) {
    Ref<List<T, 0>> out = list_of<List<T, 0>>(a->n); for (I k = 0; k < a->used;
    ++k) if (a->entries[k].live) out->add(As<T>::of(a->entries[k].key)); return out; }
// sets of items of other containers, whose places are not those that Python gives them
template <class D, class Fn> void each_key(const Ref<D>& a, Fn f) { for (I k = 0; k < a->used; ++k)
    if (a->entries[k].live) f(a->entries[k].key); }
template <class K> Ref<Set<K>> begun_set() { Ref<Set<K>> out = made<Set<K>>(); out->removed = true; return out; }
template <class K, class V, int k> Ref<Set<K>> keys_of(const Ref<Dict<K, V, k>>& a) { auto out = begun_set<K>();
    each_key(a, [&](const K& key) { out->add(key); }); return out; }
template <class K> Ref<Set<K>> keys_of(const Ref<Set<K>>& a) { auto out = begun_set<K>();
    each_key(a, [&](const K& key) { out->add(key); }); return out; }
template <class K> Ref<Set<K>> united(const Ref<Set<K>>& a, const Ref<Set<K>>& b) { auto out = keys_of(a);
    each_key(b, [&](const K& key) { out->add(key); }); return out; }
template <class K> Ref<Set<K>> shared(const Ref<Set<K>>& a, const Ref<Set<K>>& b) { auto out = begun_set<K>();
    each_key(a, [&](const K& key) { if (b->find(key)) out->add(key); }); return out; }
template <class K> Ref<Set<K>> without(const Ref<Set<K>>& a, const Ref<Set<K>>& b) { auto out = begun_set<K>();
    each_key(a, [&](const K& key) { if (!b->find(key)) out->add(key); }); return out; }
template <class K> Ref<Set<K>> of_one(const Ref<Set<K>>& a, const Ref<Set<K>>& b) { auto out = without(a, b);
    each_key(b, [&](const K& key) { if (!a->find(key)) out->add(key); }); return out; }
"""
