"""The order of several products is the one that costs least: an infinite sum of one is undefined in another."""

import numpy as np


def program(x, squareA, squareB, n, m):
    out = np.ones((n, m), dtype=np.float32)
    for i in range(n):
        out[i] = np.linalg.multi_dot([squareA[i], squareB[i], x[i]])
    return out


SIZES = [(4, 3), (5, 3), (0, 3), (1, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.choice([np.nan, np.inf, -0.0, 0.0, -np.inf, 1.5, -0.5, 2.0, 0.3], size=(n, m)).astype(np.float16)
    squareA = g.choice([np.nan, np.inf, -0.0, 0.0, -np.inf, 1.5, -0.5, 2.0, 0.3], size=(n, m, m)).astype(np.float16)
    squareB = g.normal(size=(n, m, m)).astype(np.float16)
    return (x, squareA, squareB, n, m)
