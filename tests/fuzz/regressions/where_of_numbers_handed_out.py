"""Program 25047357: result[1]: float16 float16 () instead of ndarray float16 ()  [seed 0]"""

import numpy as np


def program(x, y, rows):
    n = x.shape[0]
    m = y.shape[0]
    for i in range(m):
        for j in range(1, n):
            run1 = np.where(rows[j][1] >= 1, y[i, i], x[j])
    return (run1,)


SIZES = [(3, 4), (2, 5), (2, 2), (0, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.normal(size=(n,)).astype(np.float16)
    y = g.normal(size=(m, m)).astype(np.float16)[::-1]
    rows = [g.normal(size=(m,)).astype(np.float16) for _ in range(n)]
    return (x, y, rows)
