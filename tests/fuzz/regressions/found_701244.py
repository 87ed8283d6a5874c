"""Program 701244: warning: <fuzzed program 11650.336>:10: batched code and loop gave different results, the loop is kept (values['board1']: 1 of 15 elements differ, the first at (3, 0): 0"""

import numpy as np


def program(x, y, n, at_columns):
    m = y.shape[0]
    board1 = np.ones((m,), dtype=np.float64)
    for i in range(n):
        for j in range(i - 1, -1, -1):
            if x[i] == 0.25:
                pass
            else:
                v2 = x[i]
                board1[at_columns[j],] *= v2
            v3 = x[j]
            for l, row2 in enumerate(x, start=1):
                v4 = np.where(row2 == 0.25, v3, v3)
                board1[at_columns[i],] += x[1]


SIZES = [(5, 3), (7, 4), (2, 1), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.normal(size=(n,)).astype(np.float64)
    y = (np.round(g.normal(size=(m, m)) * 2) / 2).astype(np.float32)[::-1]
    at_columns = g.integers(0, max(m, 1), size=(n,)).astype(np.int64)
    return (x, y, n, at_columns)
