"""Program 60273: result[1]: requires_grad True instead of False  [seed 0]"""

import torch


def program(x, y):
    n = y.shape[0]
    m = len(x)
    out2 = torch.full((n,), 1.0, dtype=torch.float32)
    for j in range(m):
        v3 = 3
        if not v3 == 1:
            pass
        else:
            for l in range(n):
                out2[l] = x[:,].mean()
    return (out2,)


SIZES = [(4, 3), (7, 4), (1, 3), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m + 1, n, generator=g)[1:]
    x.requires_grad_(seed != 2)
    y = torch.randn(n, m, generator=g)
    return (x, y)
