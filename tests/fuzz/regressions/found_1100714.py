"""Program 1100714: warning: <fuzzed program 20611.214>:8: batched code and loop gave different results, the loop is kept (values['result']: float32 np.float32(0.71909) instead of 0.71909)"""

import numpy as np


def program(x, twin, m):
    state1 = 0
    for i in range(m):
        for j, row1 in enumerate(x, start=1):
            q3 = 5 % (i - 1)
            state1 = (row1 + row1) * state1 + np.cos(row1)
        state1 = (0.1 - 0.0) * state1 + 0.5
    return state1


SIZES = [(3, 4), (3, 3), (0, 0), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    base = (np.round(g.normal(size=(n + 1,)) * 2) / 2).astype(np.float32)
    x = base[:-1]
    y = g.normal(size=(n,)).astype(np.float32)
    twin = base[1:]
    return (x, twin, m)
