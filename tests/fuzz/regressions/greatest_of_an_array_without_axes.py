"""The greater of an array without axes and a number: what it is added to becomes NumPy's, or not."""

import numpy as np


def program(x, y):
    n = x.shape[0]
    sums1 = np.zeros((n,), dtype=np.float32)
    kept3 = 0.0
    for i in range(n):
        either2 = np.where(y[i] <= 0.0, sums1[i], x[i])
        kept3 = kept3 + max(either2, 0.5)
    return (kept3,)


SIZES = [(4, 3), (2, 5), (2, 2), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.normal(size=(n,)).astype(np.float32)
    y = g.normal(size=(n,)).astype(np.float32)
    return (x, y)
