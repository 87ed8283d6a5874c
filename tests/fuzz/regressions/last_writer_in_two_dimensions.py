"""Program 25101503: result[1]: np.float64(0.0) instead of np.float64(0.08333333333333333) at (0, 0)  [seed 3]"""

import numpy as np


def program(y, n, m):
    filled1 = {}
    grid2 = np.zeros((n, n))
    for i in range(n):
        for j in range(m):
            grid2[i, i] = y[i][m - 1 - j]
            for e3 in range(m):
                filled1[i, e3] = np.sum(y[j,], axis=0)
    return ([filled1[q, r] for q in range(n) for r in range(m)], grid2)


SIZES = [(4, 4), (3, 3), (0, 3), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    y = (np.round(g.normal(size=(n, m)) * 2) / 2).astype(np.float32)
    return (y, n, m)
