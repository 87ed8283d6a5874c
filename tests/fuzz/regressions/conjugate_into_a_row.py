"""Methods of arrays that take what they write to in a position that their signatures do not name."""

import numpy as np


def program(x, sx, y, n):
    total = None
    for i in range(n):
        if sx[i] > 0:
            total = x[i].conjugate(y[i])
    return total


def arguments(seed):
    g = np.random.default_rng(seed)
    return g.normal(size=(4, 3)), np.array([-1.0, 1.0, -1.0, 1.0]), g.normal(size=(4, 3)), 4
