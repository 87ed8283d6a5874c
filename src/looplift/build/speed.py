"""How fast kernels compute on this machine, measured once and kept on disk, in; how long some work takes out."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from looplift.base.data import dataclass
from looplift.build import compiler

_SOURCE = """\
#include <stdint.h>

extern "C" void arithmetic(const float* x, float* y, int64_t n) {
  for (int64_t k = 0; k < n; ++k) y[k] = x[k] * 1.5f + (x[k] < 0.5f ? x[k] : 0.5f);
}
extern "C" void functions(const float* x, float* y, int64_t n) {
  for (int64_t k = 0; k < n; ++k) y[k] = __builtin_expf(x[k]);
}
extern "C" void additions(const float* x, float* y, int64_t n) {
  float total = 0;
  for (int64_t k = 0; k < n; ++k) total += x[k];
  *y = total;
}
extern "C" void touched(const float* x, float* y, int64_t n) {
  for (int64_t k = 0; k < n; ++k) y[k] = x[k];
}
"""
_OPERATIONS = 4
"""Of the first function, for an element."""
NEAR, FAR = 2**12, 2**21
"""Elements that are in the processor's nearest memory, and that are in none of its own."""
CALL = 4e-6
"""Seconds: the guards, the arguments, and memory for the result."""
_REPEATS = 5


@dataclass(frozen=True)
class Speed:
    """Seconds that a kernel takes for an element, by what it computes, or for a byte of memory."""

    arithmetic: float
    functions: float
    additions: float
    touched: float

    def seconds(self, work: Mapping[str, float]) -> float:
        """What a call takes that does so much of each."""
        return CALL + sum(each * work[kind] for kind, each in vars(self).items())


@cache
def speed() -> Speed:
    """That of this machine; raises NotLiftable if there is no compiler."""
    place = compiler.cache_directory() / f"speed-{compiler.key(_SOURCE)}.json"
    if (known := _kept(place)) is not None:
        return known
    found = _measured()
    with contextlib.suppress(OSError):  # it is measured anew in the next process
        _keep(place, found)
    return found


def _kept(place: Path) -> Speed | None:
    try:
        return Speed(**{kind: float(each) for kind, each in json.loads(place.read_text()).items()})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _keep(place: Path, found: Speed) -> None:
    part = place.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(vars(found)))
    part.replace(place)


def _measured() -> Speed:
    library = ctypes.CDLL(str(compiler.library(_SOURCE)))
    near = {name: _of_one(getattr(library, name), NEAR) for name in ("arithmetic", "functions", "additions")}
    near["arithmetic"] /= _OPERATIONS
    bytes_of_one = 8  # one is read, and one written
    return Speed(**near, touched=_of_one(library.touched, FAR) / bytes_of_one)


def _of_one(function: Callable[..., object], count: int) -> float:
    """Seconds for an element, in the least disturbed of some calls."""
    x, y = np.linspace(0, 1, count, dtype=np.float32), np.empty(count, np.float32)
    given = ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data), ctypes.c_int64(count)
    function(*given)
    taken = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        function(*given)
        taken.append(time.perf_counter() - start)
    return min(taken) / count
