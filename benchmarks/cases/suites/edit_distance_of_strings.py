"""Edit distance of two strings, with the table that it is read from.

Source: Wagner and Fischer (1974), as in introductions to dynamic programming
Tags: dp, nested, conditional, strings
Grad: no
Hand: loop over anti-diagonals
"""
import random

import numpy as np


def slow(a, b):
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d


def hand(a, b):
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    d[:, 0], d[0, :] = np.arange(n + 1), np.arange(m + 1)
    cost = (np.array(list(map(ord, a)))[:, None] != np.array(list(map(ord, b)))).astype(np.int64)
    for k in range(2, n + m + 1):
        i = np.arange(max(1, k - m), min(n, k - 1) + 1)
        j = k - i
        best = np.minimum(d[i - 1, j], d[i, j - 1]) + 1
        d[i, j] = np.minimum(best, d[i - 1, j - 1] + cost[i - 1, j - 1])
    return d


def inputs(size="small", seed=0):
    n = {"tiny": 4, "small": 80, "full": 450}[size]
    r = random.Random(seed)
    return tuple("".join(r.choice("acgt") for _ in range(n + k)) for k in (0, 3))
