# precision: double
"""Program 1300361: exception: none instead of ValueError('need at least one array to stack')  [seed 2]"""

import numpy as np


def helper(a, b):
    c = a
    return c


def program(x, m):
    n = len(x)
    items1 = []
    out2 = np.zeros((n,), dtype=np.float64)
    for i in range(0, n, 2):
        items1.append(np.where(x >= 3, x, x).sum())
    return (np.stack(items1),)


SIZES = [(6, 2), (5, 2), (2, 1), (0, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.normal(size=(n + 1,)).astype(np.float64)[1:]
    return (x, m)
