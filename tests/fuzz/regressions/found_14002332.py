"""Program 14002332: result: array([[1, 3, 3],
[3, 1, 1],
[3, 3, 1],
[3, 3, 1],
[ instead of array([[1, 3, 3],
[3, 1, 1],
[3, 3, 1],
[1, 3, 1],
[  [seed 1]"""

import numpy as np


def program(x, w, n):
    out = []
    for i in range(n):
        out.append(np.searchsorted(w, x[i]))
    return out


SIZES = [(4, 3), (5, 3), (2, 1), (5, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.integers(1, 5, size=(n, m)).astype(np.int64)
    w = g.integers(-3, 5, size=(m,)).astype(np.int32)
    return (x, w, n)
