"""Two lists that are made in the same way are two objects, also where nothing else is done with them."""

import numpy as np
import torch


def program(x):
    n = x.shape[0]
    m = x.shape[1]
    last1 = [0] * (m + 1)
    next2 = [0] * (m + 1)
    place4 = None
    seen5 = 0
    held7 = []
    for r9 in range(n):
        ()
    times8 = [0 for _ in range(n)]
    for i in np.ndindex(m, n):
        pass
    level12 = 0.0
    return (last1, next2)


SIZES = [(6, 2), (7, 4), (3, 0), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = (torch.randn(n, m, generator=g) * 2).round() / 2
    head_mn = torch.randint(0, max(n, 1), (m,), generator=g).to(torch.int64).tolist()
    return (x,)
