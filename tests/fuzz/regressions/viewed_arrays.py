"""NumPy's `.view()` is the array itself, not a reshape without sizes."""

import numpy as np


def program(square, n):
    out = []
    for i in range(n):
        out.append(square[i].view())
    return np.stack(out)


SIZES = [(4, 3), (2, 4), (2, 1), (3, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    square = g.integers(-3, 5, size=(n, m, m)).astype(np.int64)
    return (square, n)
