"""Program 1354: result[0]: np.float16(-4.395) instead of np.float16(-0.2379) at ()  [seed 0]"""

import numpy as np


def program(m):
    total2 = np.zeros((), dtype=np.float16)
    total2 += sum([0.1 for w in range(m)])
    return (total2,)


SIZES = [(5, 3), (5, 2), (2, 1), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    return (m,)
