"""A row that each iteration fills anew, and stores as a whole."""

import torch


def program(x, n):
    buf = torch.zeros(3)
    grid = torch.zeros(4, 3)
    for i in range(n):
        buf[:] = torch.sort(x[i]).values
        grid[i] = buf
    return grid, buf


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(4, 3, generator=g), [4, 0, 1, 3][seed % 4]
