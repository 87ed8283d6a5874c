# precision: double
"""Program 14012418: result[1][1]: float64 np.float64(11.0) instead of float 11.0  [seed 0]"""

import numpy as np


def program(x, idx):
    n = idx.shape[0]
    m = x.shape[1]
    bins1 = np.zeros(m, dtype=np.float64)
    a2, b3 = (0.0, 1)
    for j in range(1, n):
        a2, b3 = (a2, x[1][idx[j]])
    for j in enumerate(bins1):
        a2, b3 = (b3, a2 + 2)
    return b3


SIZES = [(4, 3), (5, 2), (0, 0), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = (np.round(g.normal(size=(n, m)) * 2) / 2).astype(np.float64)
    idx = g.integers(0, max(m, 1), size=(n,)).astype(np.int64)
    return (x, idx)
