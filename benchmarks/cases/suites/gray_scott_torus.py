"""Reaction and diffusion of two substances on a torus, in place, cell by cell.

Source: the Gray-Scott model
Tags: stencil, nested, in-place, recurrence, mutates
Grad: no
Hand: loop over steps, rolled arrays in each
"""
import numpy as np


def slow(U, V, steps, Du, Dv, f, k):
    n = U.shape[0]
    for s in range(steps):
        Lu = np.empty_like(U)
        Lv = np.empty_like(V)
        for i in range(n):
            for j in range(n):
                Lu[i, j] = U[i - 1, j] + U[(i + 1) % n, j] + U[i, j - 1] + U[i, (j + 1) % n] - 4 * U[i, j]
                Lv[i, j] = V[i - 1, j] + V[(i + 1) % n, j] + V[i, j - 1] + V[i, (j + 1) % n] - 4 * V[i, j]
        for i in range(n):
            for j in range(n):
                uvv = U[i, j] * V[i, j] * V[i, j]
                U[i, j] += Du * Lu[i, j] - uvv + f * (1 - U[i, j])
                V[i, j] += Dv * Lv[i, j] + uvv - (f + k) * V[i, j]
    return U, V


def hand(U, V, steps, Du, Dv, f, k):
    def around(a):
        return np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1) - 4 * a

    for _ in range(steps):
        Lu, Lv, uvv = around(U), around(V), U * V * V
        U += Du * Lu - uvv + f * (1 - U)
        V += Dv * Lv + uvv - (f + k) * V
    return U, V


def inputs(size="small", seed=0):
    n, steps = {"tiny": (5, 2), "small": (16, 4), "full": (70, 10)}[size]
    r = np.random.default_rng(seed)
    return r.random((n, n)), r.random((n, n)), steps, 0.1, 0.05, 0.05, 0.06
