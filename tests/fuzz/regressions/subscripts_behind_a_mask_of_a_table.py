"""A mask of a table tells of two dimensions: what comes behind it is one of the third, which may not be there."""

import numpy as np


def program(c):
    for k in range(3):
        c[c[:, :, 0] > 4, : k + 1] += 2.0
    c[:, :, 0][c[:, :, 0] > 4, :] = 2.0
    return c


def arguments(seed):
    return (np.arange(30.0).reshape(2, 3, 5) - seed,)
