"""NumPy is told to raise where a product is too small for a float."""

import numpy as np


def program(x):
    with np.errstate(all="raise"):
        total = 1.0
        last = []
        for value in x:
            total = total * value
            last.append(total)
            while len(last) > 2:
                last.pop(0)
    return last, total


def arguments(seed):
    return (np.array([1e-200, 3.0, 1e-200, 2.0])[: [2, 4, 0, 3][seed % 4]],)
