"""NumPy raises where an integer of its own does not fit the array that it is stored into."""

import numpy as np


def program(values, counts):
    small, sums = np.zeros(len(values), dtype=np.int16), np.zeros(len(values), dtype=np.int32)
    for i in range(len(values)):
        sums[i] += counts[i] * 50000
        small[i] = values[i]
    return small, sums


def arguments(seed):
    random = np.random.RandomState(seed)
    return random.randint(-20000, 20000 * (1 + seed), 4), random.randint(0, 30000 * (1 + seed % 3), 4)
