"""Edit distance of two sequences with two rows as lists, of which the new one starts with an item and grows.

Source: the Levenshtein distance, as on Rosetta Code
Tags: dp, sequential, list
Grad: no
Hand: loop over rows, a running minimum in each
"""
import numpy as np


def slow(a, b):
    prev = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        cur = [i]
        for j, cb in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + (ca != cb)))
        prev = cur
    return prev[-1]


def hand(a, b):
    b, k = np.array(b), np.arange(len(b) + 1)
    row = k.copy()
    for i, one in enumerate(a, 1):
        new = np.concatenate(([i], np.minimum(row[1:] + 1, row[:-1] + (b != one))))
        row = np.minimum.accumulate(new - k) + k
    return int(row[-1])


def inputs(size="small", seed=0):
    n = {"tiny": 4, "small": 120, "full": 1200}[size]
    r = np.random.default_rng(seed)
    return r.integers(0, 4, n).tolist(), r.integers(0, 4, n + 2).tolist()
