"""`np.ndenumerate` of a tensor gives numbers of NumPy's, and was read as one that gives tensors."""

import numpy as np
import torch


def program(values):
    total = 0.0
    for (i, j), v in np.ndenumerate(values):
        total = total + v * (i - j)
    return total, type(total).__name__


def arguments(seed):
    return (torch.arange(6.0, dtype=torch.float64).reshape(2 + seed % 2, -1),)
