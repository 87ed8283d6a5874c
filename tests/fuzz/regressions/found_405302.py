"""Program 405302: result[0]: np.float32(0.0) instead of np.float32(5.098862e+10) at ()  [seed 0]"""

import numpy as np
import torch


def program(x):
    n = x.shape[1]
    m = x.shape[0]
    scaled1 = 1.0
    for i, ii in np.ndindex(m, n):
        scaled1 = x[:, ii].median()
    return (scaled1,)


SIZES = [(3, 4), (3, 3), (2, 2), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1, n, generator=g).expand(m, n)
    return (x,)
