"""Program 6305: result[0]: np.float64(-0.6402433514595032) instead of np.float64(-0.3172058165073395) at (6,)  [seed 1]"""

import numpy as np


def program(y, labels_mn, values_m):
    n = y.shape[0]
    kept1 = np.zeros((n,), dtype=np.float64)
    grid4 = y.copy()
    for i in range(0, n, 2):
        for j in range(i, n):
            members2 = values_m[labels_mn < i]
            if not len(members2) > 0:
                continue
            kept1[j] = members2.mean()
            grid4[i] = grid4[i]
    return (kept1,)


SIZES = [(4, 3), (7, 4), (3, 0), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    y = g.normal(size=(n, 2 * m)).astype(np.float64)[:, 1::2]
    uneven = [g.normal(size=(1 + (r * 5 + seed) % 3,)).astype(np.float64) for r in range(n)]
    labels_mn = g.integers(0, max(n, 1), size=(m,)).astype(np.int64)
    values_m = g.normal(size=(m,)).astype(np.float32)
    return (y, labels_mn, values_m)
