"""C++ that runs independent iterations in several threads, where there is enough to do."""

from __future__ import annotations

PARTS = """\
#include <pthread.h>
#include <time.h>

// A range that threads take pieces of, in its order; `outcome` is that of a piece that failed, after which none begins.
struct LoopliftParts {
  int64_t next, end, size;
  int outcome;
  void* part;
  int (*call)(void* part, int64_t first, int64_t last);
  static void* run(void* given) {
    LoopliftParts* self = (LoopliftParts*)given;
    while (!__atomic_load_n(&self->outcome, __ATOMIC_RELAXED)) {
      const int64_t first = __atomic_fetch_add(&self->next, self->size, __ATOMIC_RELAXED);
      if (first >= self->end) break;
      const int64_t last = self->end - first < self->size ? self->end : first + self->size;
      const int found = self->call(self->part, first, last);
      if (found) __atomic_store_n(&self->outcome, found, __ATOMIC_RELAXED);
    }
    return nullptr;
  }
  static int64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
  }
};

// part(first, last) for all of a range. The first iterations are timed: each further thread must have a tenth of a
// millisecond of work, which is several times what it takes to start one. All have ended when this returns.
template <class Part> static int looplift_in_parts(int64_t begin, int64_t end, int64_t threads, Part part) {
  constexpr int64_t worth_it = 100000, known = 20000, most = 64;
  const int64_t started = LoopliftParts::now();
  int64_t done = begin, passed = 0;
  for (int64_t size = 1; done < end && threads > 1 && passed < known; size *= 2) {
    const int64_t last = end - done < size ? end : done + size;
    if (const int outcome = part(done, last)) return outcome;
    done = last, passed = LoopliftParts::now() - started;
  }
  const int64_t left = end - done;
  const double work = threads > 1 && left ? double(passed) / double(done - begin) * double(left) : 0;
  int64_t more = threads > most ? most - 1 : threads - 1;
  if (more > left - 1) more = left - 1;
  if (double(more) * worth_it > work) more = int64_t(work / worth_it);
  if (more < 1) return left ? part(done, end) : 0;
  const int64_t size = left / (8 * (more + 1)) + 1;
  const auto call = [](void* given, int64_t first, int64_t last) { return (*(Part*)given)(first, last); };
  LoopliftParts parts{done, end, size, 0, &part, call};
  pthread_t others[most];
  int64_t count = 0;
  while (count < more && !pthread_create(&others[count], nullptr, LoopliftParts::run, &parts)) ++count;
  LoopliftParts::run(&parts);
  while (count) pthread_join(others[--count], nullptr);
  return parts.outcome;
}
"""
