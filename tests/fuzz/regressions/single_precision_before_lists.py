"""Products of single precision go into sums of Python's: their digits are those of single precision."""

import math

import numpy as np


def program(x, y, cube, rows):
    n = cube.shape[0]
    m = y.shape[0]
    run1 = (m,)
    trace2 = (n, m)
    best3 = float("-inf")
    place4 = None
    for i in range(n):
        number5 = math.hypot(float(x[i] - x[(i + 1) % n]), 1.0)
        for j in range(m):
            c6 = np.maximum(x[i], x[i]) if j > 0 and y[j - 1] <= y[j] else x[i::2].max()
            if c6 > best3:
                best3 = c6
            run1 = (cube[i, j, :] + rows[i]) * run1 + cube[i, :, :] @ cube[i - 1][j]


SIZES = [(3, 4), (7, 4), (3, 0), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = (np.round(g.normal(size=(n,)) * 2) / 2).astype(np.float32)
    y = g.normal(size=(m,)).astype(np.float32)
    cube = g.normal(size=(n, m, m)).astype(np.float32)[::-1]
    rows = [g.normal(size=(m,)).astype(np.float32) for _ in range(n)]
    return (x, y, cube, rows)
