"""An array of an empty list of rows, or of narrow numbers, is of doubles and has one dimension."""

import numpy as np


def program(x):
    numbers, rows = [], []
    for b in range(len(x)):
        numbers.append(np.array([x[b, t] for t in range(x.shape[1]) if x[b, t] > 0]))
        rows.append(np.array([x[b] for t in range(x.shape[1]) if x[b, t] > 0]))
    return numbers, rows


SIZES = [(6, 2), (3, 4), (1, 3), (2, 0)]


def arguments(seed):
    return (np.random.default_rng(seed).normal(size=SIZES[seed % 4]).astype(np.float32),)
