# precision: double
"""`np.inner` sums over the last dimensions of both, which a product of matrices does not."""

import numpy as np


def program(x, y):
    held, stacked = y.copy(), np.eye(3)
    out = np.zeros((x.shape[0], 3))
    for i in range(x.shape[0]):
        held = np.inner(held, x[i]) * 0.5
        if held[0] > 1:
            held = held - 1
        stacked = np.inner(stacked, x[i]) * 0.5
        out[i] = np.inner(y, x[i])
    return held, stacked, out


def arguments(seed):
    g = np.random.default_rng(seed)
    return g.normal(size=(seed % 4 + 1, 3, 3)), g.normal(size=3)
