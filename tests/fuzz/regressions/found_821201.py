"""Program 821201: result[0]: np.float64(inf) instead of np.float64(nan) at ()  [seed 0]"""

import numpy as np


def program(v, n):
    out = []
    for i in range(n):
        state = np.power(v[i], 0.5)
        out.append(state)
    return (out,)


SIZES = [(4, 3), (4, 3), (4, 3), (3, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    v = g.choice([np.nan, np.inf, -0.0, 0.0, -np.inf, 1.5, -0.5, 2.0, 0.3], size=(n,)).astype(np.float64)
    return (v, n)
