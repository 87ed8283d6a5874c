# precision: double
"""Program 1300539: warning: <fuzzed program 29431.39>:12: batched code and loop gave different results, the loop is kept (the loop raises UFuncTypeError: Cannot cast ufunc 'add' output fro"""

import numpy as np


def program(x, m, values_m):
    n = len(x)
    sums2 = np.full((n,), 2)
    hidden3 = np.zeros((m,))
    for i in range(0, m, 2):
        sums2 += np.max(hidden3) % 2


SIZES = [(4, 3), (3, 3), (1, 4), (0, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.normal(size=(n, m)).astype(np.float64)
    y = g.normal(size=(n,)).astype(np.float64)
    scale = np.float64(0.5 + seed)
    labels_mn = g.integers(0, max(n, 1), size=(m,)).astype(np.int64)
    values_m = g.normal(size=(m,)).astype(np.float64)
    return (x, m, values_m)
