"""Program 25016411: result[3]: np.float32(-4.0) instead of np.float32(-8.0) at (0,)  [seed 0]"""

import torch


def program(x):
    n = x.shape[0]
    m = x.shape[1]
    out6 = torch.full((n,), 1.0)
    for i, row0 in enumerate(out6):
        for j in range(m, 1, -1):
            out6[i] += row0
    return (out6,)


SIZES = [(5, 3), (7, 4), (1, 3), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g)
    x.requires_grad_(seed != 2)
    return (x,)
