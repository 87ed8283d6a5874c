"""Program 6008888: result: np.float64(0.9034701816518086) instead of np.float64(1.0) at (0, 0)  [seed 0]"""

import numpy as np


def program(x, sy, n, m):
    out = np.zeros((n, m), dtype=np.float64)
    for i in range(n):
        out[i] += np.ones_like(x[i], sy[i])
    return out


SIZES = [(4, 3), (5, 3), (3, 2), (4, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = (np.round(g.normal(size=(n, m)) * 2) / 2).astype(np.float64)
    sy = g.normal(size=(n,)).astype(np.float64)
    return (x, sy, n, m)
