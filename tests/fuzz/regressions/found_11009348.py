"""Program 11009348: result: ndarray int8 (4, 3) instead of ndarray bool (4, 3)  [seed 0]"""

import numpy as np


def program(x, n):
    out = []
    for i in range(n):
        out.append(x[i].conjugate())
    return np.stack(out)


SIZES = [(4, 3), (2, 1), (0, 3), (3, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.integers(0, 2, size=(n, m)).astype(bool)
    return (x, n)
