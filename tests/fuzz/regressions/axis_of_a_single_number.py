"""``x[i].min(0)`` of an array's number names an axis: it was taken for a second number."""

import numpy as np


def program(x):
    least = np.zeros(len(x), dtype=x.dtype)
    most = []
    for i in range(len(x)):
        least[i] = x[i].min(0)
        most.append(x[i].max(0))
    return least, most


def arguments(seed):
    return (np.random.default_rng(seed).normal(size=(4, 3, 1, 5)[seed % 4]).astype(np.float32),)
