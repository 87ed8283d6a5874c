"""Program 409546: result: requires_grad True instead of False  [seed 0]"""

import numpy as np
import torch


def program(x, y, numbers, starts_mn, ends_mn):
    n = x.shape[0]
    m = len(y)
    scaled3 = torch.zeros_like(x)
    for i, j in np.ndindex(m, n):
        if numbers[j] >= j:
            scaled3[starts_mn[i] : ends_mn[i]] = x[starts_mn[i] : ends_mn[i]]
    return scaled3


SIZES = [(4, 3), (2, 5), (3, 0), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    x.requires_grad_(seed != 2)
    y = torch.randn(m, generator=g)
    numbers = torch.randn(n, generator=g).to(torch.float64).tolist()
    starts_mn = torch.sort(torch.randint(0, max(n + 1, 1), (m,), generator=g).to(torch.int64))[0]
    ends_mn = torch.cat((starts_mn[1:], starts_mn[-1:]))
    return (x, y, numbers, starts_mn, ends_mn)
