"""The cheapest order of a chain of matrix products: costs, and where each chain is split first.

Source: matrix chain multiplication, as in Cormen et al.
Tags: dp, nested, conditional
Grad: no
Hand: loop over lengths, all chains of one in each
"""
import numpy as np


def slow(p):
    n = len(p) - 1
    m = np.zeros((n, n))
    s = np.zeros((n, n), dtype=int)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            m[i, j] = float("inf")
            for k in range(i, j):
                q = m[i, k] + m[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if q < m[i, j]:
                    m[i, j] = q
                    s[i, j] = k
    return m[0, n - 1], s


def hand(p):
    n = len(p) - 1
    m, s = np.zeros((n, n)), np.zeros((n, n), dtype=int)
    for length in range(2, n + 1):
        i = np.arange(n - length + 1)
        j, k = i + length - 1, i[:, None] + np.arange(length - 1)
        q = m[i[:, None], k] + m[k + 1, j[:, None]] + p[i][:, None] * p[k + 1] * p[j + 1][:, None]
        best = q.argmin(axis=1)
        m[i, j], s[i, j] = q[i, best], i + best
    return m[0, n - 1], s


def inputs(size="small", seed=0):
    n = {"tiny": 4, "small": 24, "full": 110}[size]
    return (np.random.default_rng(seed).integers(1, 30, n + 1),)
