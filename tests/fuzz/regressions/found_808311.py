"""Program 808311: exception: none instead of IndexError('index 6 is out of bounds for axis 1 with size 4')  [seed 1]"""

import numpy as np


def program(x, y, near, n):
    for i in range(0, n, 3):
        mine4 = []
        for e5 in near[i]:
            mine4.append(np.where(x[i, e5] <= 2, y[i], i))


SIZES = [(4, 3), (7, 4), (1, 3), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.normal(size=(n, m)).astype(np.float32)
    y = g.normal(size=(n,)).astype(np.float32)
    near = [
        g.integers(0, max(n, 1), size=((r * 7 + seed) % 4,)).astype(np.int64).tolist() if n else [] for r in range(n)
    ]
    return (x, y, near, n)
