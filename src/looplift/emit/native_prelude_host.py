"""The C++ by which kernels call Python: to run without its lock, to see Ctrl-C, and to have results allocated."""

_HOST = """\
// Python's PyEval_SaveThread, PyEval_RestoreThread and PyErr_CheckSignals: kernels run without its lock. PyTorch's
// number of threads, and what shares a range among them.
struct Host {
  void* (*release)();
  void (*acquire)(void*);
  int (*signals)();
  int (*threads)();
  int (*in_parts)(int64_t begin, int64_t end, int (*threads)(void*), int (*part)(void*, int64_t, int64_t),
      int (*paused)(void*), void* data);
};
"""

_MOMENT = """\
// The C library's clock, and the number of a thread. To read its headers takes a tenth as long as to compile a kernel.
#if defined(__linux__) && defined(__LP64__)
enum { MONOTONIC = 1 };
struct Moment { int64_t tv_sec, tv_nsec; };
int moment_of(int, Moment*) __asm__("clock_gettime");
unsigned long this_thread() __asm__("pthread_self");
#else
#include <pthread.h>
#include <time.h>
enum { MONOTONIC = CLOCK_MONOTONIC };
typedef timespec Moment;
static inline int moment_of(int clock, Moment* moment) { return clock_gettime(clockid_t(clock), moment); }
static inline pthread_t this_thread() { return pthread_self(); }
#endif
"""

_WATCH = """\
// Releases Python's lock, and some twenty times in a second lets Python see to its signals; true after Ctrl-C.
// A loop counts its patience down, and is given as much anew as it used up in that time. A thread that helps looks for
// a flag instead.
struct Watch {
  const Host* host;
  void* thread = nullptr;
  const volatile bool* stopped = nullptr;
  int64_t budget = 256, last = now();
  explicit Watch(const Host* python) : host(python), thread(python->release()) {}
  explicit Watch(const volatile bool* flag) : host(nullptr), stopped(flag) {}
  ~Watch() { if (host) host->acquire(thread); }
  static int64_t now() {
    Moment moment;
    moment_of(MONOTONIC, &moment);
    return int64_t(moment.tv_sec) * 1000000000 + moment.tv_nsec;
  }
  bool interrupted(int64_t& patience) {
    const bool raised = paused();
    patience = budget;
    return raised;
  }
  __attribute__((noinline, cold)) bool paused() {
    const int64_t passed = now() - last;
    if (passed < 25000000) {
      if (budget < INT64_C(1) << 40) budget *= passed < 10000 ? 16 : 2;
      return false;
    }
    if (passed > 100000000) budget = budget / (passed / 50000000) + 1;
    if (stopped) {
      last = now();
      return *stopped;
    }
#ifdef __SSE2__
    const unsigned noted = __builtin_ia32_stmxcsr() & 63;
#endif
    host->acquire(thread);
    const bool raised = host->signals() != 0;
    thread = host->release();
#ifdef __SSE2__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | noted);
#endif
    last = now();
    return raised;
  }
};
"""

_MAKER = """\
// Functions of NumPy and Python that make what a kernel hands out, and put it into a list of the caller's.
struct Maker {
  void* (*dtype)(int);
  void *(*zeros)(int, const int64_t*, void*, int), *(*empty)(int, const int64_t*, void*, int);
  void* (*place)(void*, const int64_t*);
  void* (*call)(void*, const char*, ...);
  void* (*method)(void*, const char*, const char*, ...);
  void* (*address)(void*);
  void (*leave)(void*);
  void* (*item)(void*, int64_t);
  int (*put)(void*, int64_t, void*);
  void (*forget)();
};
"""

_MADE_ARRAY = """\
// The memory of a new array of NumPy's, which is the item of a list from now on; null where there is none.
template <int rank> static inline void* made_array(
    Watch& watch, const Maker* maker, void* list, int64_t number, int dtype, bool zeros, const int64_t (&sizes)[rank]) {
  const int64_t first[rank] = {};
  watch.host->acquire(watch.thread);
  void* array = (zeros ? maker->zeros : maker->empty)(rank, sizes, maker->dtype(dtype), 0);
  void* memory = array ? maker->place(array, first) : nullptr;
  if (array) maker->put(list, number, array);
  else maker->forget();
  watch.thread = watch.host->release();
  return memory;
}
"""

_MADE_TENSOR = """\
// The memory of a new tensor, made by the function of Python that is the item of a list, in whose place it comes.
template <int rank> static inline void* made_tensor(
    Watch& watch, const Maker* maker, void* list, int64_t number, const int64_t (&sizes)[rank]) {
  int64_t all[6] = {};
  for (int axis = 0; axis < rank; ++axis) all[axis] = sizes[axis];
  watch.host->acquire(watch.thread);
  void* make = maker->item(list, number);
  void* tensor = maker->call(make, &"LLLLLL"[6 - rank], all[0], all[1], all[2], all[3], all[4], all[5]);
  void* address = tensor ? maker->method(tensor, "data_ptr", nullptr) : nullptr;
  void* memory = address ? maker->address(address) : nullptr;
  if (address && !memory) memory = list;  // no elements, and no memory
  if (address) maker->leave(address);
  if (tensor) maker->put(list, number, tensor);
  else maker->forget();
  watch.thread = watch.host->release();
  return memory;
}
"""

STRIP = 256
"""So many iterations of a loop that is watched run between two looks for Ctrl-C."""

_STRIP_END = f"""\
// Where the next iterations of a loop end, after which it looks for Ctrl-C.
static inline int64_t strip_end(int64_t first, int64_t limit) {{
  return uint64_t(limit) - uint64_t(first) > {STRIP} ? first + {STRIP} : limit;
}}
"""

_SHARED = """\
// Some iterations of a loop, from a copy of all that they read, which is in nobody else's reach.
template <class Part>
static __attribute__((noinline, noclone)) int ran(const Part& part, int64_t first, int64_t last, Watch& watch) {
  const Part copy = part;
  return copy(first, last, watch);
}

// A loop, by as many threads as there is work for if its iterations do not meet. One that fails stops the others.
template <class Part> struct Shared {
  const Part& part;
  Watch& watch;
  const decltype(this_thread()) here = this_thread();
  volatile bool stopped = false;
  static int threads(void* all) { return ((Shared*)all)->watch.host->threads(); }
  static int piece(void* given, int64_t first, int64_t last) {
    Shared& all = *(Shared*)given;
    if (all.here == this_thread()) return all.ended(ran(all.part, first, last, all.watch));
    Watch helper(&all.stopped);
    return all.ended(ran(all.part, first, last, helper));
  }
  static int paused(void* given) {
    Shared& all = *(Shared*)given;
    const int why = interrupted;
    return all.watch.paused() ? all.ended(why) : 0;
  }
  int ended(int outcome) {
    if (outcome) stopped = true;
    return outcome;
  }
};
template <class Part>
static int shared(Watch& watch, int64_t first, int64_t last, bool meets_none, const Part& part) {
  if (!meets_none || !watch.host->in_parts) return ran(part, first, last, watch);
  Shared<Part> all{part, watch};
  return watch.host->in_parts(first, last, all.threads, all.piece, all.paused, &all);
}
"""

_IS_ALONE = """\
// The memory from the first to the last element of a view.
struct Span { const char *first, *last; };
template <class T, int rank> static inline Span span_of(const View<T, rank>& view) {
  Span span{(const char*)view.data, (const char*)(view.data + 1)};
  for (int axis = 0; axis < rank; ++axis) {
    if (view.size[axis] == 0) return {nullptr, nullptr};
    const int64_t reach = (view.size[axis] - 1) * view.step[axis] * int64_t(sizeof(T));
    (reach < 0 ? span.first : span.last) += reach;
  }
  return span;
}
static inline bool meets(Span a, Span b) { return a.first < b.last && b.first < a.last; }

// Whether the elements of a view share memory neither with each other nor with others.
template <class T, int rank, class... Other> static bool is_alone(const View<T, rank>& view, const Other&... others) {
  int64_t reach = 1;
  bool counted[rank] = {};
  for (int round = 0; round < rank; ++round) {
    int64_t least = INT64_MAX;
    int axis = -1;
    for (int k = 0; k < rank; ++k) {
      const int64_t step = view.step[k] < 0 ? -view.step[k] : view.step[k];
      if (!counted[k] && view.size[k] > 1 && step < least) least = step, axis = k;
    }
    if (axis < 0) break;
    if (least < reach) return false;
    counted[axis] = true;
    reach += least * (view.size[axis] - 1);
  }
  return !(meets(span_of(view), span_of(others)) || ...);
}
"""

HOST: dict[str, str] = {
    "Host": _HOST,
    "Moment": _MOMENT,
    "Watch": _WATCH,
    "strip_end": _STRIP_END,
    "is_alone": _IS_ALONE,
    "shared": _SHARED,
    "Maker": _MAKER,
    "made_array": _MADE_ARRAY,
    "made_tensor": _MADE_TENSOR,
}
"""Each under the name by which kernels call it."""
