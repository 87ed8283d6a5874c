"""A difference of order zero is the array itself, which a stack copies."""

import numpy as np


def program(square, n):
    out = []
    for i in range(n):
        out.append(np.diff(square[i], 0, True))
    return np.stack(out)


SIZES = [(4, 3), (2, 1), (2, 1), (1, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    square = g.normal(size=(n, m, m)).astype(np.float64)
    return (square, n)
