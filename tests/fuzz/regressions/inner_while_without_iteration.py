"""Program 16002645: result: float 0.0 instead of int 0  [seed 2]"""

import numpy as np


def program(x, scale):
    state1 = 0
    for row0 in x:
        v2 = row0
        level3 = v2 / 2
        steps4 = 0
        while level3 > 0.1 and steps4 < 4:
            steps4 += 1
            state1 = scale
    return state1


SIZES = [(4, 3), (5, 2), (1, 3), (0, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = (np.round(g.normal(size=(n,)) * 2) / 2).astype(np.float16)
    scale = 1.25
    return (x, scale)
