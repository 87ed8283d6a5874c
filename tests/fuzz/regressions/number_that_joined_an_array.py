"""Program 200003913: result: float 1.5 instead of float16 1.5, where the first call had taken the number."""

import numpy as np


def program(x, starts, ends):
    total = 0.0
    for i in range(len(x)):
        found = 0
        for _ in range(starts[i], ends[i]):
            found = max(found, x[i])
        total += found
    return total


CALLS = (
    ([-1.5], [0], [1]),
    ([1.5], [0], [1]),
    ([1.5, -2], [0, 1], [1, 2]),
    ([-1.5, -2], [0, 0], [0, 0]),
    ([1.5], [0], [0]),
)


def arguments(seed):
    x, starts, ends = CALLS[seed % 5]
    return np.array(x, dtype=np.float16), list(starts), list(ends)
