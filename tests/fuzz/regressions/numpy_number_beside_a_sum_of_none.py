# precision: double
"""Program 25037352: result[0]: float64 np.float64(3.5) instead of float 3.5  [seed 2]"""

import numpy as np


def program(x, scale, k):
    total1 = 1.0
    for i in range(0, 1, 3):
        for row1 in x:
            total1 = row1[i]
        total1 = total1 + sum((scale for q in range(k)))
    return (total1,)


SIZES = [(3, 4, 2), (5, 2, 1), (0, 3, 2), (1, 4, 0)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.normal(size=(n, m)).astype(np.float64)
    scale = 1.25
    return (x, scale, k)
