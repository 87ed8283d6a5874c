"""Program 26021498: result: entries [0, 1, 2] instead of [0, 1, 2, 3]  [seed 0]"""

import numpy as np


def program(x, n):
    out = []
    for i in range(n):
        out.append(np.linalg.norm(x[i], 0.5, 0.5))
    return out


SIZES = [(4, 3), (5, 3), (4, 3), (6, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.uniform(size=(n, m)).astype(np.float32)
    return (x, n)
