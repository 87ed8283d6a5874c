"""Ranges in `product`, `combinations` and `ndindex` were made anew of what the body had changed meanwhile."""

import itertools

import numpy as np


def program(n, sizes):
    out = []
    for i, j in itertools.combinations(range(n), 2):
        out.append(i * 10 + j)
        n = i + 2
    for i, j in itertools.product(range(2), range(sizes[0])):
        sizes[0] = sizes[0] + 1
        out.append(i + j)
    for i, j in np.ndindex(2, sizes[0]):
        sizes[0] = sizes[0] - 1
        out.append(i - j)
    return out, n, sizes


def arguments(seed):
    return [4, 2, 0, 5][seed % 4], [seed % 3]
