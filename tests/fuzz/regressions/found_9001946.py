"""Program 9001946: result: np.float32(nan) instead of np.float32(0.6) at (0, 0)  [seed 0]"""

import numpy as np


def program(x, w, n):
    out = np.zeros((n, 5), dtype=np.float32)
    for i in range(n):
        out[i] = np.correlate(x[i], w, "full")
    return out


SIZES = [(4, 3), (0, 3), (2, 1), (2, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.choice([np.nan, np.inf, -0.0, 0.0, -np.inf, 1.5, -0.5, 2.0, 0.3], size=(n, m)).astype(np.float32)
    w = g.choice([np.nan, np.inf, -0.0, 0.0, -np.inf, 1.5, -0.5, 2.0, 0.3], size=(m,)).astype(np.float32)
    return (x, w, n)
