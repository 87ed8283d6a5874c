# precision: double
"""Program 70373: result: float64 np.float64(0.6931471805599453) instead of float 0.6931471805599453  [seed 2]"""

import numpy as np


def program(x, cube, idx):
    n = len(idx)
    m = x.shape[1]
    total1 = 0.0
    for i in range(m):
        v2 = x[:,]
        for j in range(m):
            if i == 0:
                pass
            else:
                total1 = v2.sum()
    for i in range(n):
        for j in range(1, m):
            total1 = total1 + cube[i][j][j]
    return total1


SIZES = [(5, 3), (2, 5), (2, 1), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = (np.round(g.normal(size=(n, m)) * 2) / 2).astype(np.float64)
    cube = g.normal(size=(n, m, m)).astype(np.float64)
    idx = g.integers(0, max(m, 1), size=(n,)).astype(np.int64)
    return (x, cube, idx)
