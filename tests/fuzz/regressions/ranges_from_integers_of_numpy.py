"""The first of a range that begins with an integer of NumPy's is an integer of Python's, and so is what it is added to."""

import numpy as np


def program(kept, m, starts, ends, y):
    for i in range(len(starts)):
        for j in range(m):
            inner = 0.0
            for c in range(starts[i], ends[i]):
                inner += y[j % len(y)]
            kept = kept + inner
        inner = 0.5
        for c in range(starts[i], ends[i]):
            inner += c
        kept = kept + inner
    return kept, inner


def arguments(seed):
    g = np.random.default_rng(seed)
    count = [1, 3, 2, 4][seed % 4]
    starts = np.sort(g.integers(0, 4, count))
    ends = starts + g.integers(1 - seed % 2, 3, count)
    return 0.0, [3, 1, 2, 0][seed % 4], starts, ends, g.normal(size=4).astype(np.float32)
