"""A module among the items of a list has a function by the name of an array's attribute."""

import numpy as np


def program(r):
    y = np.zeros(len(r))
    for k in range(1, len(r)):
        try:
            y[k] = r[k] * 2
            y[:k] += sorted([np, np]).shape
        except ZeroDivisionError:
            y = None
    return y


def arguments(seed):
    return (np.random.default_rng(seed).normal(size=[5, 4, 1, 3][seed % 4]),)
