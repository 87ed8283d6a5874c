"""Global alignment of two sequences: scores, and in one number the moves that reach each of them.

Source: Needleman and Wunsch (1970)
Tags: dp, nested, conditional
Grad: no
Hand: loop over anti-diagonals
"""
import numpy as np


def slow(a, b, match, mismatch, gap):
    n, m = len(a), len(b)
    F = np.zeros((n + 1, m + 1))
    P = np.zeros((n + 1, m + 1), dtype=np.int8)
    F[:, 0] = np.linspace(0, -n * gap, n + 1)
    F[0, :] = np.linspace(0, -m * gap, m + 1)
    t = np.zeros(3)
    for i in range(n):
        for j in range(m):
            if a[i] == b[j]:
                t[0] = F[i, j] + match
            else:
                t[0] = F[i, j] - mismatch
            t[1] = F[i, j + 1] - gap
            t[2] = F[i + 1, j] - gap
            tmax = np.max(t)
            F[i + 1, j + 1] = tmax
            if t[0] == tmax:
                P[i + 1, j + 1] += 2
            if t[1] == tmax:
                P[i + 1, j + 1] += 3
            if t[2] == tmax:
                P[i + 1, j + 1] += 4
    return F, P


def hand(a, b, match, mismatch, gap):
    n, m = len(a), len(b)
    F, P = np.zeros((n + 1, m + 1)), np.zeros((n + 1, m + 1), dtype=np.int8)
    F[:, 0], F[0, :] = np.linspace(0, -n * gap, n + 1), np.linspace(0, -m * gap, m + 1)
    score = np.where(a[:, None] == b, float(match), -float(mismatch))
    for d in range(n + m - 1):
        i = np.arange(max(0, d - m + 1), min(n, d + 1))
        j = d - i
        t = np.stack([F[i, j] + score[i, j], F[i, j + 1] - gap, F[i + 1, j] - gap])
        best = t.max(axis=0)
        F[i + 1, j + 1] = best
        P[i + 1, j + 1] = np.array([2, 3, 4]) @ (t == best)
    return F, P


def inputs(size="small", seed=0):
    n = {"tiny": 4, "small": 60, "full": 260}[size]
    r = np.random.default_rng(seed)
    return r.integers(0, 4, n), r.integers(0, 4, n + 2), 1, 1, 1
