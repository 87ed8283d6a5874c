"""Program 1786: result[1]: float32 np.float32(0.0) instead of float 0.0  [seed 2]"""

import numpy as np


def program(x, y):
    n = len(x)
    total1 = 0.0
    state2 = 0
    for row0 in y:
        v3 = total1
        for j in range(n):
            total1 += x[j]
        state2 = v3
    return (state2,)


SIZES = [(6, 2), (2, 5), (1, 1), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.normal(size=(n,)).astype(np.float32)
    y = (np.round(g.normal(size=(n, m)) * 2) / 2).astype(np.float32)
    return (x, y)
