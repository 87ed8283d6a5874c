"""The C++ that puts numbers in order, and finds places among those that are."""

_SELECT = """\
// Puts the number that belongs at place k there, smaller ones before it and greater ones behind it (Hoare, 1961).
template <class T> static void select(T* values, int64_t count, int64_t k) {
  int64_t low = 0, high = count - 1;
  while (high - low > 12) {
    const T a = values[low], b = values[low + (high - low) / 2], c = values[high];
    const T pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
    int64_t i = low, j = high;
    while (i <= j) {
      while (values[i] < pivot) ++i;
      while (pivot < values[j]) --j;
      if (i <= j) {
        const T kept = values[i];
        values[i++] = values[j];
        values[j--] = kept;
      }
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else return;
  }
  for (int64_t i = low + 1; i <= high; ++i) {
    const T value = values[i];
    int64_t j = i;
    for (; j > low && value < values[j - 1]; --j) values[j] = values[j - 1];
    values[j] = value;
  }
}
"""

_SORT = """\
// Puts numbers in order; what is no number comes last.
template <class T> static void sort_range(T* values, int64_t low, int64_t high) {
  while (high - low > 12) {
    const int64_t middle = low + (high - low) / 2;
    select(values + low, high - low + 1, middle - low);
    sort_range(values, low, middle - 1);
    low = middle + 1;
  }
  for (int64_t i = low + 1; i <= high; ++i) {
    const T value = values[i];
    int64_t j = i;
    for (; j > low && value < values[j - 1]; --j) values[j] = values[j - 1];
    values[j] = value;
  }
}
template <class T> static void sort(T* values, int64_t count) {
  int64_t numbers = 0;
  for (int64_t k = 0; k < count; ++k)
    if (values[k] == values[k]) {
      const T value = values[k];
      values[k] = values[numbers];
      values[numbers++] = value;
    }
  sort_range(values, 0, numbers - 1);
}
"""

_SEARCH = """\
// np.searchsorted of one number: how many of the values in order come before it.
template <bool right, class T, class V> static inline int64_t search(const View<V, 1>& values, T key) {
  int64_t low = 0, high = values.size[0];
  while (low < high) {
    const int64_t middle = low + ((high - low) >> 1);
    const T value = values(middle);
    const bool before = right ? !(key < value || (value != value && key == key))
                              : value < key || (key != key && value == value);
    if (before) low = middle + 1;
    else high = middle;
  }
  return low;
}
"""

_PAIRWISE = """\
// NumPy's sum of one dimension: eight partial sums in blocks of 128, and blocks in pairs, added to zero.
template <class T, class Term> static inline T with_few(T total, const Term& term, int64_t next, int64_t count) {
  switch (count) {
    case 7: total += term(next++); [[fallthrough]];
    case 6: total += term(next++); [[fallthrough]];
    case 5: total += term(next++); [[fallthrough]];
    case 4: total += term(next++); [[fallthrough]];
    case 3: total += term(next++); [[fallthrough]];
    case 2: total += term(next++); [[fallthrough]];
    case 1: total += term(next);
  }
  return total;
}
template <class T, class Term> static inline T pairwise_part(const Term& term, int64_t first, int64_t count) {
  T part[8];
  for (int j = 0; j < 8; ++j) part[j] = term(first + j);
  int64_t k = 8;
  for (; k < count - count % 8; k += 8)
    for (int j = 0; j < 8; ++j) part[j] += term(first + k + j);
  const T total = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  return with_few<T>(total, term, first + k, count - k);
}
template <class T, class Term> static T pairwise_block(Term term, int64_t first, int64_t count) {
  if (count <= 128) return pairwise_part<T>(term, first, count);
  const int64_t half = count / 2 - count / 2 % 8;
  const T start = pairwise_block<T>(term, first, half);
  return start + pairwise_block<T>(term, first + half, count - half);
}
template <class T, class Term> static inline T pairwise_sum(const Term& term, int64_t count) {
  if (count < 8) return with_few<T>(T(0), term, 0, count);
  return T(0) + (count > 128 ? pairwise_block<T>(term, 0, count) : pairwise_part<T>(term, 0, count));
}
"""

_MIDDLE = """\
// The number that belongs at place k of several, which stay as they are; ``room`` is for twice as many. The inner loops
// have no branch: of numbers in no order none could be foretold.
template <class T> static T middle_number(const T* values, T* room, int64_t count, int64_t k) {
  const T* from = values;
  T *to = room, *other = room + count;
  while (count > 16) {
    const T a = from[0], b = from[count / 2], c = from[count - 1];
    const T pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
    int64_t first = 0, last = count - 1;
    for (int64_t i = 0; i < count; ++i) {
      const T value = from[i];
      to[first] = value;
      to[last] = value;
      const bool before = value < pivot;
      first += before;
      last -= !before;
    }
    if (first == 0) {
      last = count - 1;
      for (int64_t i = 0; i < count; ++i) {
        const T value = from[i];
        to[first] = value;
        to[last] = value;
        const bool before = !(pivot < value);
        first += before;
        last -= !before;
      }
      if (k < first) return pivot;
    }
    const bool in_front = k < first;
    from = in_front ? to : to + first;
    k -= in_front ? 0 : first;
    count = in_front ? first : count - first;
    T* kept = to;
    to = other;
    other = kept;
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t smaller_ones = 0, equal_ones = 0;
    for (int64_t j = 0; j < count; ++j) {
      smaller_ones += from[j] < from[i];
      equal_ones += from[j] == from[i];
    }
    if (smaller_ones <= k && k < smaller_ones + equal_ones) return from[i];
  }
  return from[0];
}
"""

SELECTION: dict[str, str] = {
    "select": _SELECT,
    "middle_number": _MIDDLE,
    "sort": _SORT,
    "search": _SEARCH,
    "pairwise_sum": _PAIRWISE,
}
"""Each under the name by which kernels call it."""
