# precision: double
"""A conversion to the dtype that an element has is the element itself, also of one of two elements."""

import torch


def program(y, idx):
    n = len(idx)
    grid = torch.full((n, n), 0.5, dtype=torch.float64)
    for i in range(n - 1, -1, -1):
        v = (grid[i, i] if grid[i, i] <= 2 else grid[0, i]).double()
        for j in range(i, n):
            grid[i, j] += v
    return (grid,)


def arguments(seed):
    n, m = ((3, 4), (2, 5), (2, 2), (0, 0))[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = torch.randn(m, generator=g, dtype=torch.float64)
    return y, torch.randint(0, max(m, 1), (n,), generator=g)
