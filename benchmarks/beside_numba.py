"""Loops over NumPy arrays, lifted and under Numba's ``@njit``.

    python benchmarks/beside_numba.py [--only NAME] [--budget 0.5]

Each function is written once and compiled by both. Times are medians of interleaved calls in one process, each with
the next of some inputs, in microseconds; ``ratio`` is lifted / Numba, so below 1.0 the lifted function is faster.
``first`` is the first call in milliseconds, with an empty cache of kernels; a short loop runs as written in it, while
its kernel is compiled. ``built`` is one that waits for the compiler, in a process in which all is imported; a kernel is
compiled in a moment for it, and then as well as can be, which is over before others are timed. Needs
``pip install numba``.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def dynamic_time_warping(a, b):
    n, m = len(a), len(b)
    cost = np.full((n + 1, m + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
            cost[i, j] = abs(a[i - 1] - b[j - 1]) + best
    return cost[n, m]


def edit_distance(a, b):
    n, m = len(a), len(b)
    table = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        table[i, 0] = i
    for j in range(m + 1):
        table[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
    return table[n, m]


def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1)
    for i in range(len(weights)):
        for c in range(capacity, weights[i] - 1, -1):
            if best[c - weights[i]] + values[i] > best[c]:
                best[c] = best[c - weights[i]] + values[i]
    return best


def escape_time(re, im, limit):
    out = np.zeros(re.shape, dtype=np.int64)
    for i in range(re.shape[0]):
        for j in range(re.shape[1]):
            x, y, k = 0.0, 0.0, 0
            while k < limit and x * x + y * y < 4.0:
                x, y = x * x - y * y + re[i, j], 2.0 * x * y + im[i, j]
                k += 1
            out[i, j] = k
    return out


def newton(values):
    out = np.zeros(len(values))
    for i in range(len(values)):
        x = 1.0
        while abs(x * x - values[i]) > 1e-10:
            x = 0.5 * (x + values[i] / x)
        out[i] = x
    return out


def neighbour_means(h, offsets, neighbours):
    out = np.zeros((len(offsets) - 1, h.shape[1]))
    for i in range(len(offsets) - 1):
        count = offsets[i + 1] - offsets[i]
        for k in range(offsets[i], offsets[i + 1]):
            for d in range(h.shape[1]):
                out[i, d] += h[neighbours[k], d] / count
    return out


def conditional(x):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.5:
                out[i, j] = x[i, j] * 2.0
            elif x[i, j] > -0.5:
                out[i, j] = x[i, j] * x[i, j]
            else:
                out[i, j] = -1.0
    return out


def gauss_seidel(u, f, sweeps):
    for _ in range(sweeps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])
    return u


def jacobi(u, sweeps):
    for _ in range(sweeps):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u = v
    return u


def biquad(x, b0, b1, b2, a1, a2):
    y = np.zeros_like(x)
    x1 = x2 = y1 = y2 = 0.0
    for t in range(len(x)):
        y[t] = b0 * x[t] + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
        x2, x1 = x1, x[t]
        y2, y1 = y1, y[t]
    return y


def floyd_warshall(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def triangular_solve(a, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        s = b[i]
        for j in range(i):
            s -= a[i, j] * x[j]
        x[i] = s / a[i, i]
    return x


def cholesky(a):
    n = a.shape[0]
    low = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            low[i, j] = math.sqrt(s) if i == j else s / low[j, j]
    return low


def viterbi(log_start, log_step, log_seen):
    steps, states = log_seen.shape
    score = log_start + log_seen[0]
    back = np.zeros((steps, states), dtype=np.int64)
    for t in range(1, steps):
        new = np.zeros(states)
        for s in range(states):
            best, at = -np.inf, 0
            for r in range(states):
                value = score[r] + log_step[r, s]
                if value > best:
                    best, at = value, r
            new[s] = best + log_seen[t, s]
            back[t, s] = at
        score = new
    return score, back


def bodies(position, mass):
    force = np.zeros_like(position)
    for i in range(len(mass)):
        for j in range(len(mass)):
            if i != j:
                dx = position[j, 0] - position[i, 0]
                dy = position[j, 1] - position[i, 1]
                dz = position[j, 2] - position[i, 2]
                r = math.sqrt(dx * dx + dy * dy + dz * dz + 0.01)
                scale = mass[j] / (r * r * r)
                force[i, 0] += scale * dx
                force[i, 1] += scale * dy
                force[i, 2] += scale * dz
    return force


def life(grid):
    n, m = grid.shape
    out = np.zeros_like(grid)
    for i in range(n):
        for j in range(m):
            alive = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    if di != 0 or dj != 0:
                        alive += grid[(i + di) % n, (j + dj) % m]
            if alive == 3 or (alive == 2 and grid[i, j] == 1):
                out[i, j] = 1
    return out


def collatz(n):
    steps = np.zeros(n, dtype=np.int64)
    for i in range(1, n):
        x, count = i, 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            count += 1
        steps[i] = count
    return steps


def checksum(data):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021) & 0xFFFF if crc & 0x8000 else (crc << 1) & 0xFFFF
    return crc


def histogram(values, bins):
    counts = np.zeros(bins, dtype=np.int64)
    for v in values:
        k = int(v * bins)
        if 0 <= k < bins:
            counts[k] += 1
    return counts


def sparse_product(data, columns, rows, x):
    y = np.zeros(len(rows) - 1)
    for i in range(len(rows) - 1):
        for k in range(rows[i], rows[i + 1]):
            y[i] += data[k] * x[columns[k]]
    return y


def hidden_markov(start, step, seen):
    alpha = start * seen[0]
    for t in range(1, len(seen)):
        new = np.zeros(len(start))
        for s in range(len(start)):
            total = 0.0
            for r in range(len(start)):
                total += alpha[r] * step[r, s]
            new[s] = total * seen[t, s]
        alpha = new / new.sum()
    return alpha


def bubble_sort(values):
    a = values.copy()
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a


def prime_sieve(n):
    composite = np.zeros(n, dtype=np.bool_)
    count = 0
    for i in range(2, n):
        if not composite[i]:
            count += 1
            for j in range(i * i, n, i):
                composite[j] = True
    return count


def programs(random: np.random.Generator) -> list[tuple[Callable, Callable[[], tuple[Any, ...]]]]:
    """Each function with what makes its arguments."""
    normal, uniform, integers = random.normal, random.uniform, random.integers
    offsets = np.concatenate([[0], np.cumsum(integers(0, 12, 500))])
    ends = int(offsets[-1])
    spd = (lambda a: a @ a.T + 60 * np.eye(60))(normal(size=(60, 60)))
    grid = [a.copy() for a in np.meshgrid(np.linspace(-2, 1, 100), np.linspace(-1.2, 1.2, 100))]
    made = [
        (dynamic_time_warping, lambda: (normal(size=120), normal(size=130))),
        (edit_distance, lambda: (integers(0, 6, 150), integers(0, 6, 140))),
        (knapsack, lambda: (integers(1, 30, 60), uniform(size=60), 500)),
        (escape_time, lambda: (*grid, 60)),
        (newton, lambda: (uniform(0.5, 9, 5000),)),
        (neighbour_means, lambda: (normal(size=(500, 16)), offsets, integers(0, 500, ends))),
        (conditional, lambda: (normal(size=(200, 200)),)),
        (gauss_seidel, lambda: (normal(size=(60, 60)), normal(size=(60, 60)), 10)),
        (jacobi, lambda: (normal(size=(80, 80)), 10)),
        (biquad, lambda: (normal(size=20000), 0.2, 0.3, 0.2, -0.5, 0.1)),
        (floyd_warshall, lambda: (uniform(size=(70, 70)),)),
        (triangular_solve, lambda: (np.tril(normal(size=(150, 150))) + 20 * np.eye(150), normal(size=150))),
        (cholesky, lambda: (spd,)),
        (viterbi, lambda: (normal(size=12), normal(size=(12, 12)), normal(size=(150, 12)))),
        (bodies, lambda: (normal(size=(120, 3)), uniform(size=120))),
        (life, lambda: (integers(0, 2, (80, 80)),)),
        (collatz, lambda: (3000,)),
        (checksum, lambda: (integers(0, 256, 2000),)),
        (histogram, lambda: (uniform(size=20000), 50)),
        (sparse_product, lambda: (normal(size=ends), integers(0, 500, ends), offsets, normal(size=500))),
        (hidden_markov, lambda: (uniform(size=10), uniform(size=(10, 10)), uniform(size=(150, 10)))),
        (bubble_sort, lambda: (normal(size=200),)),
        (prime_sieve, lambda: (20000,)),
    ]
    return made


INPUTS = 16
"""Calls take these in turn: a processor learns the branches that one input takes by heart."""


def compare(function: Callable, arguments: Callable, budget: float, compiled: Callable) -> tuple[float, ...]:
    """Microseconds of a call, lifted and compiled by Numba; milliseconds of the first of each and of one of ours that
    waits for the compiler."""
    from looplift import lift
    from looplift.runtime.awaited import all_compiled

    several = [arguments() for _ in range(INPUTS)]

    def timed(call: Callable, number: int = 0) -> tuple[float, Any]:
        args = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in several[number % INPUTS])
        begin = time.perf_counter()
        out = call(*args)
        return time.perf_counter() - begin, out

    def undisturbed() -> None:
        while list(Path(os.environ["LOOPLIFT_CACHE"]).glob("build-*")):
            time.sleep(0.01)

    lifted, numba = lift(function), compiled(function)
    first_lifted, _ = timed(lifted)
    with all_compiled():
        _, ours = timed(lifted)
        undisturbed()
        os.environ["LOOPLIFT_CACHE"] = tempfile.mkdtemp(prefix="kernels-")
        built, _ = timed(lift(function))
    undisturbed()
    first_numba, theirs = timed(numba)
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (ours, theirs)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    for _ in range(3):
        timed(lifted)
    times: tuple[list[float], list[float]] = ([], [])
    until = time.perf_counter() + budget
    while time.perf_counter() < until or len(times[0]) < 5:
        number = len(times[0])
        for kept, call in zip(times, (lifted, numba), strict=True):
            kept.append(timed(call, number)[0])
    median_lifted, median_numba = map(statistics.median, times)
    return median_lifted * 1e6, median_numba * 1e6, first_lifted * 1e3, built * 1e3, first_numba * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="part of a function's name")
    parser.add_argument("--budget", type=float, default=0.5, help="seconds of timing for each function")
    options = parser.parse_args()
    os.environ["LOOPLIFT_CACHE"] = tempfile.mkdtemp(prefix="kernels-")
    importlib.import_module("torch")  # no part of the first call
    try:
        from numba import njit
    except ImportError:
        parser.exit(2, "Numba is not installed: pip install numba\n")
    print(f"{'loop':22}{'lifted us':>12}{'numba us':>12}{'ratio':>8}{'first ms':>10}{'built ms':>10}{'numba ms':>10}")
    ratios = []
    for function, arguments in programs(np.random.default_rng(0)):
        if options.only in function.__name__:
            lifted, numba, *firsts = compare(function, arguments, options.budget, njit)
            ratios.append(lifted / numba)
            first = "".join(f"{one:10.0f}" for one in firsts)
            print(f"{function.__name__:22}{lifted:12.1f}{numba:12.1f}{ratios[-1]:8.2f}{first}", flush=True)
    print(f"geometric mean {statistics.geometric_mean(ratios):.2f}, largest {max(ratios):.2f}, of {len(ratios)} loops")


if __name__ == "__main__":
    main()
