"""Rows of a copy that each step of a loop makes are as long as the copy is: it must not be made before the loop."""

import numpy as np


def program(a, b, tolerance, steps):
    x = np.zeros_like(b)
    for step in range(steps):
        old = x.copy()
        for i in range(a.shape[0]):
            before = np.dot(a[i, :i], x[:i])
            after = np.dot(a[i, i + 1 :], old[i + 1 :])
            x[i] = (b[i] - before - after) / a[i, i]
        if np.allclose(x, old, rtol=tolerance):
            break
    return x, step


def arguments(seed):
    generator = np.random.default_rng(seed)
    return generator.random((4, 4)) + 4 * np.eye(4), generator.random(4), 1e-6, 3
