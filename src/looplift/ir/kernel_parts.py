"""C++ that runs independent iterations in several threads, where there is enough to do."""

from __future__ import annotations

PARTS = """\
#include <pthread.h>
#include <stdint.h>
#include <time.h>

// A range that threads take pieces of, in its order; `outcome` is that of a piece that failed, after which none begins.
struct LoopliftParts {
  int64_t next, end, size;
  void* data;
  int (*part)(void* data, int64_t first, int64_t last);
  int outcome = 0;
  int64_t working = 0;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t over = PTHREAD_COND_INITIALIZER;
  void run() {
    while (!__atomic_load_n(&outcome, __ATOMIC_RELAXED)) {
      const int64_t first = __atomic_fetch_add(&next, size, __ATOMIC_RELAXED);
      if (first >= end) break;
      if (const int found = part(data, first, end - first < size ? end : first + size)) stop(found);
    }
  }
  void stop(int why) { __atomic_store_n(&outcome, why, __ATOMIC_RELAXED); }
  static void* help(void* given) {
    LoopliftParts* self = (LoopliftParts*)given;
    self->run();
    self->count(-1);
    return nullptr;
  }
  void count(int64_t change) {
    pthread_mutex_lock(&lock);
    working += change;
    if (!working) pthread_cond_signal(&over);
    pthread_mutex_unlock(&lock);
  }
  // Whether all that help have come to their end, for which it waits a little.
  bool ended() {
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50000000;
    if (until.tv_nsec >= 1000000000) ++until.tv_sec, until.tv_nsec -= 1000000000;
    pthread_mutex_lock(&lock);
    int waited = 0;
    while (working && !waited) waited = pthread_cond_timedwait(&over, &lock, &until);
    const bool none = !working;
    pthread_mutex_unlock(&lock);
    return none;
  }
  static int64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
  }
};

// part(data, first, last) for all of a range. The first iterations are timed: each further thread must have a tenth of
// a millisecond of work, which is several times what it takes to start one. All have ended when this returns.
// threads(data) is how many there may be; paused(data) is asked while others work still, and stops them unless it is 0.
extern "C" int looplift_in_parts(int64_t begin, int64_t end, int (*threads)(void* data),
    int (*part)(void* data, int64_t first, int64_t last), int (*paused)(void* data), void* data) {
  constexpr int64_t worth_it = 100000, known = 20000, most = 64;
  const int64_t started = LoopliftParts::now();
  int64_t done = begin, passed = 0, size = (end - begin) / 16;
  size = size < 1 ? 1 : size > 16 ? 16 : size;
  for (; done < end && passed < known; size *= 4) {
    const int64_t last = end - done < size ? end : done + size;
    if (const int outcome = part(data, done, last)) return outcome;
    done = last;
    if (done < end) passed = LoopliftParts::now() - started;
  }
  if (done >= end) return 0;
  const int64_t left = end - done;
  const double work = done > begin ? double(passed) / double(done - begin) * double(left) : double(most * worth_it);
  int64_t more = work < worth_it ? 0 : int64_t(threads(data)) - 1;
  if (more > most - 1) more = most - 1;
  if (more > left - 1) more = left - 1;
  if (double(more) * worth_it > work) more = int64_t(work / worth_it);
  if (more < 1) return part(data, done, end);
  LoopliftParts parts{done, end, left / (8 * (more + 1)) + 1, data, part};
  pthread_t others[most];
  int64_t count = 0;
  for (; count < more; ++count) {
    parts.count(1);
    if (pthread_create(&others[count], nullptr, LoopliftParts::help, &parts)) {
      parts.count(-1);
      break;
    }
  }
  parts.run();
  while (!parts.ended())
    if (const int found = paused(data)) parts.stop(found);
  while (count) pthread_join(others[--count], nullptr);
  return parts.outcome;
}
"""


def shares_loops(source: str) -> bool:
    """Whether a kernel calls it."""
    return "in_parts(" in source
