"""NumPy makes these in the order of columns: flat rows of them are copies."""

import numpy as np


def program(a):
    found = {}
    for k in range(3):
        both, zeros, more = np.stack([a.T, a.T]), np.zeros_like(a.T), a.T + 1.0
        both.reshape(-1)[k] = 100.0
        zeros.reshape(-1)[k] = 100.0
        more.ravel()[k] = 100.0
        found[k] = both[0, 0, k] + zeros[0, k] + more[0, k]
    return found


def arguments(seed):
    return (np.arange(12.0).reshape(3, 4) - seed,)
