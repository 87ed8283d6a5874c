"""The C++ of arrays that kernels make, cut and hand out."""

_ROW_AT = """\
// The view that is left of one when one of its axes is indexed.
template <int axis, class T, int rank>
static inline View<T, rank - 1> row_at(const View<T, rank>& whole, int64_t index) {
  View<T, rank - 1> part;
  part.data = whole.data + index * whole.step[axis];
  for (int k = 0; k + 1 < rank; ++k) {
    part.size[k] = whole.size[k < axis ? k : k + 1];
    part.step[k] = whole.step[k < axis ? k : k + 1];
  }
  return part;
}
"""

_CUT = """\
// whole[first:last:step] along an axis, with bounds that are clamped as Python does.
template <int axis, class T, int rank>
static inline View<T, rank> cut(const View<T, rank>& whole, int64_t first, int64_t last, int64_t step) {
  View<T, rank> part;
  part.data = whole.data;
  for (int k = 0; k < rank; ++k) part.size[k] = whole.size[k], part.step[k] = whole.step[k];
  const int64_t size = whole.size[axis];
  first = first < 0 ? (first < -size ? 0 : first + size) : (first > size ? size : first);
  last = last < 0 ? (last < -size ? 0 : last + size) : (last > size ? size : last);
  part.size[axis] = last > first ? (last - first + step - 1) / step : 0;
  part.step[axis] = whole.step[axis] * step;
  if (part.size[axis]) part.data += first * whole.step[axis];
  return part;
}
"""

_ROWS = """\
// Lists of different lengths, one after the other: the offsets say where each begins, and the last one ends.
template <class T> struct Rows {
  T* data;
  const int64_t* offsets;
  int64_t size[1];
  View<T, 1> row(int64_t index) const {
    return {data + offsets[index], {offsets[index + 1] - offsets[index]}, {1}};
  }
};
"""

_REVERSED = """\
// whole[::-1] along an axis.
template <int axis, class T, int rank> static inline View<T, rank> reversed(const View<T, rank>& whole) {
  View<T, rank> part;
  part.data = whole.data;
  for (int k = 0; k < rank; ++k) part.size[k] = whole.size[k], part.step[k] = whole.step[k];
  if (part.size[axis]) part.data += (part.size[axis] - 1) * part.step[axis];
  part.step[axis] = -part.step[axis];
  return part;
}
"""

_TRANSPOSED = """\
// The view with its two axes exchanged.
template <class T> static inline View<T, 2> transposed(const View<T, 2>& whole) {
  return {whole.data, {whole.size[1], whole.size[0]}, {whole.step[1], whole.step[0]}};
}
"""

_ARRAY = """\
// An array that the kernel makes, or a name for one of several: freed with the last name that holds it.
template <class T, int rank> struct Array : View<T, rank> {
  int64_t* holders = nullptr;
  int64_t capacity = 0, input = -1;
  Array() : View<T, rank>{} {}
  template <class U> Array(const View<U, rank>& view, int64_t number) : View<T, rank>{}, input(number) {
    this->data = const_cast<T*>(view.data);
    for (int axis = 0; axis < rank; ++axis) this->size[axis] = view.size[axis], this->step[axis] = view.step[axis];
  }
  Array(const Array& other)
      : View<T, rank>(other), holders(other.holders), capacity(other.capacity), input(other.input) {
    if (holders) ++*holders;
  }
  Array& operator=(const Array& other) {
    if (other.holders) ++*other.holders;
    leave();
    View<T, rank>::operator=(other);
    holders = other.holders, capacity = other.capacity, input = other.input;
    return *this;
  }
  ~Array() { leave(); }
  void leave() {
    if (holders && --*holders == 0) __builtin_free((void*)holders);
  }
  bool reserve(int64_t length) {
    int64_t bytes = length * int64_t(sizeof(T));
    for (int axis = 1; axis < rank; ++axis)
      if (__builtin_mul_overflow(bytes, this->size[axis], &bytes)) return false;
    if (__builtin_add_overflow(bytes, 64, &bytes)) return false;
    const bool first = !holders;
    const int64_t before = first ? 0 : (const char*)this->data - (const char*)holders;
    int64_t* moved = (int64_t*)__builtin_realloc((void*)holders, size_t(bytes));
    if (!moved) return false;
    holders = moved;
    *holders = 1;
    capacity = length;
    // elements begin with a line of the cache
    this->data = (T*)((char*)holders + (first ? 64 - int64_t(uintptr_t(holders) & 63) : before));
    for (int axis = rank - 1, next = 1; axis >= 0; --axis)
      this->step[axis] = axis == rank - 1 ? next : this->step[axis + 1] * this->size[axis + 1];
    return true;
  }
  bool allocate(const int64_t (&sizes)[rank]) {
    for (int axis = 0; axis < rank; ++axis) this->size[axis] = sizes[axis];
    return sizes[0] < (INT64_C(1) << 57) && reserve(sizes[0]);
  }
  bool adopt(void* memory, const int64_t (&sizes)[rank]) {
    for (int axis = rank - 1, next = 1; axis >= 0; --axis) {
      this->size[axis] = sizes[axis];
      this->step[axis] = axis == rank - 1 ? next : this->step[axis + 1] * sizes[axis + 1];
    }
    this->data = (T*)memory;
    return memory != nullptr;
  }
  int64_t count() const {
    int64_t total = 1;
    for (int axis = 0; axis < rank; ++axis) total *= this->size[axis];
    return total;
  }
  void fill(T value) {
    const int64_t total = count();
    for (int64_t k = 0; k < total; ++k) this->data[k] = value;
  }
  bool push(T value) {
    if (this->size[0] == capacity && !reserve(2 * capacity + 8)) return false;
    this->data[this->size[0]++] = value;
    return true;
  }
  bool lengthen(int64_t length) {
    this->size[0] = length > 0 ? length : 0;
    return length <= 0 || reserve(length);
  }
};
"""

_SAME_SIZES = """\
template <class T, class U, int rank> static inline bool same_sizes(const View<T, rank>& a, const View<U, rank>& b) {
  for (int axis = 0; axis < rank; ++axis)
    if (a.size[axis] != b.size[axis]) return false;
  return true;
}
"""

_COPIED = """\
// The elements of a view, one after the other.
template <int rank, class T, class U>
static inline T* copied(T* to, const U* from, const int64_t* size, const int64_t* step) {
  if constexpr (rank == 1)
    if (step[0] == 1) {
      for (int64_t k = 0; k < size[0]; ++k) to[k] = T(from[k]);
      return to + size[0];
    }
  for (int64_t k = 0; k < size[0]; ++k, from += step[0])
    if constexpr (rank == 1) *to++ = T(*from);
    else to = copied<rank - 1>(to, from, size + 1, step + 1);
  return to;
}
template <class T> struct Bare { typedef T type; };
template <class T> struct Bare<const T> { typedef T type; };
template <class T, class U> struct Alike { enum { is = false }; };
template <class T> struct Alike<T, T> { enum { is = true }; };
template <class T, class U, int rank> static inline void copy(const View<T, rank>& to, const View<U, rank>& from) {
  int64_t next = 1, total = 1;
  for (int axis = 0; axis < rank; ++axis) total *= from.size[axis];
  for (int axis = rank - 1; axis >= 0 && from.step[axis] == next; --axis) next *= from.size[axis];
  if (Alike<T, typename Bare<U>::type>::is && next == total) {
    if (total) __builtin_memmove((void*)to.data, (const void*)from.data, size_t(total) * sizeof(T));
    return;
  }
  copied<rank>(to.data, from.data, from.size, from.step);
}
"""

_COPY_OUT = """\
// Copy what is left of an array that is returned to where another library has memory for it.
template <class T, int rank> static inline bool copy_out(const Array<T, rank>& array, void* memory) {
  const int64_t total = array.count();
  if (memory && total) __builtin_memcpy(memory, (const void*)array.data, size_t(total) * sizeof(T));
  return memory != nullptr;
}
"""

_HAND_OUT = """\
// What is left of an array that is returned: its number if it is an input, else memory that the caller frees.
template <class T, int rank> static inline void hand_out(const Array<T, rank>& array, int64_t* place) {
  if (array.holders) ++*array.holders;
  *place++ = array.input;
  *place++ = int64_t(array.holders);
  *place++ = int64_t(array.data);
  for (int axis = 0; axis < rank; ++axis) *place++ = array.size[axis];
}
"""

ARRAYS: dict[str, str] = {
    "Rows": _ROWS,
    "row_at": _ROW_AT,
    "cut": _CUT,
    "reversed": _REVERSED,
    "transposed": _TRANSPOSED,
    "Array": _ARRAY,
    "same_sizes": _SAME_SIZES,
    "copy": _COPIED,
    "copy_out": _COPY_OUT,
    "hand_out": _HAND_OUT,
}
"""Each under the name by which kernels call it."""
