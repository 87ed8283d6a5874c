"""What a mask or places pick is a copy: a store into a part of it changes nothing else."""

import numpy as np


def program(x, t):
    for k in range(3):
        x[x > k][:] = 7.0
        x[[0, k]][1:] = 8.0
        t[t > k][:] = 4.0
        x[k] += 1.0
    return x, t


def arguments(seed):
    return (np.arange(6.0) - seed, np.arange(12.0).reshape(3, 4) - seed)
