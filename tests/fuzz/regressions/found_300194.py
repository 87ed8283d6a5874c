"""A number that differs by iteration, times a row of 16-bit floats, is not rounded first."""

import torch


def program(x, idx):
    n = idx.shape[0]
    m = x.shape[0]
    grid1 = torch.ones((n, m), dtype=torch.float64)
    for i, row0 in enumerate(x):
        level2 = 2.0
        steps3 = 0
        while level2 > 0.1:
            level2 *= 0.6
            grid1[:, i] = torch.where(row0 != 0.5, row0 + row0, x[i] if level2 >= level2 else x[(i + 1) % m])
        grid1[:, i] = x[i] * level2
    return grid1


SIZES = [(3, 4), (2, 5), (1, 3), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g).to(torch.bfloat16).t()
    idx = torch.randint(0, max(m, 1), (n,), generator=g).to(torch.int64)
    return (x, idx)
