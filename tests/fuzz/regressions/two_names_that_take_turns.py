"""Two carried values whose names take turns, in two loops: the first gave the name away that the second began with."""

import numpy as np
import torch


def program(x, y, idx):
    n = idx.shape[0]
    m = x.shape[0]
    a1, b2 = 0.0, 1
    for i in range(n):
        v3 = abs(a1)
        for j in range(m):
            if 0 <= idx[-i - 1] < 1.5:
                v4 = x[j][i]
                a1, b2 = b2, a1 + torch.where(y[n - 1 - i, j] >= 0.5, x[idx[i], i], v4)
            else:
                v5 = v3
                a1, b2 = a1 + 1, a1 * sum(v5 for w in range(n))
            v6 = (a1 if idx[i] == 0.1 else v3) - y[:, j].prod()
            a1, b2 = b2, a1 + (v6 * 1.5)
        a1, b2 = b2, a1 + (v3 / 2)
    for i in range(n - 2, -1, -1):
        for j, jj in np.ndindex(n, n):
            if i > j:
                continue
            v7 = abs(a1) - (3**3)
            v8 = min(v7, v7)
            a1, b2 = b2, a1 + v7
    return (a1, b2)


SIZES = [(5, 3), (2, 5), (1, 1), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g).to(torch.float16)
    y = torch.randn(n, m, generator=g).to(torch.float16)
    idx = torch.randint(0, max(m, 1), (n,), generator=g).to(torch.int64)
    return (
        x,
        y,
        idx,
    )
