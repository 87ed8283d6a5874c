"""Scalings of a kernel matrix to given row and column sums, each sum a product of its own.

Source: Sinkhorn's algorithm for optimal transport
Tags: dense, nested, recurrence
Grad: no
Hand: loop over rounds, two products of matrix and vector in each
"""
import numpy as np


def slow(C, a, b, eps, iters):
    n, m = C.shape
    K = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            K[i, j] = np.exp(-C[i, j] / eps)
    u = np.ones(n)
    v = np.ones(m)
    for _ in range(iters):
        for i in range(n):
            u[i] = a[i] / np.dot(K[i], v)
        for j in range(m):
            v[j] = b[j] / np.dot(K[:, j], u)
    return u[:, None] * K * v[None, :]


def hand(C, a, b, eps, iters):
    K = np.exp(-C / eps)
    u, v = np.ones(len(a)), np.ones(len(b))
    for _ in range(iters):
        u = a / (K @ v)
        v = b / (K.T @ u)
    return u[:, None] * K * v


def inputs(size="small", seed=0):
    n, iters = {"tiny": (4, 3), "small": (40, 10), "full": (300, 200)}[size]
    return np.random.default_rng(seed).random((n, n + 1)), np.ones(n) / n, np.ones(n + 1) / (n + 1), 0.2, iters
