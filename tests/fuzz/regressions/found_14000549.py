"""Program 14000549: gradient 0: np.float32(-1.7998047) instead of np.float32(-0.89990234) at (0, 0)  [seed 0]"""

import math

import torch


def program(x, y, idx):
    n = idx.shape[0]
    m = x.shape[1]
    bins1 = torch.zeros((m,), dtype=torch.float16)
    for i in range(n):
        v2 = (y * y).sum()
        for j in range(1, m):
            for l, row2 in enumerate(bins1):
                if x[i, j] != 2.0:
                    bins1[idx[i]] = v2
                y[i] -= x[j,].sum()
                y[i] = math.floor(row2)


SIZES = [(6, 2), (7, 4), (0, 3), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(2 * n, m, generator=g).to(torch.float16)[::2]
    x.requires_grad_(seed != 2)
    y = torch.randn(n, generator=g).to(torch.float16)
    idx = torch.randint(0, max(m, 1), (n,), generator=g).to(torch.int64)
    return (x, y, idx)
