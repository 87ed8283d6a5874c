"""`tolist` of integers of 64 bits without a sign gives Python's, which do not wrap around."""

import numpy as np


def program(x):
    out = []
    for i in range(len(x)):
        for v in x[i].tolist():
            out.append(v % 10)
    return out


def arguments(seed):
    return (np.array([[2**63 + 5 + seed, 3], [1, 2**64 - 1 - seed]], dtype=np.uint64),)
