"""NumPy's `x ** 0.5` is `pow` of a scalar and `sqrt` of an array: they differ at -0.0 and at minus infinity."""

import numpy as np


def program(values):
    roots, powers = np.zeros(len(values)), np.zeros(len(values))
    for i in range(len(values)):
        roots[i] = 1 / (values[i] ** 0.5 + 1)
        powers[i] = np.power(values[i], 0.5)
    return roots, powers


def arguments(seed):
    return (np.random.RandomState(seed).choice([-np.inf, -0.0, 0.0, 4.0, np.inf], 3 + seed),)
