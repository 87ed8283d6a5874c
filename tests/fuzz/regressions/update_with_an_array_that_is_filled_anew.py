"""A place is combined with an array that each iteration fills anew: the last one's values were taken by all."""

import torch


def program(x, v):
    grid = torch.ones_like(x)
    sums = torch.zeros_like(x)
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(v.shape[0]):
        for j in range(x.shape[0]):
            out[j] = v[i] * x[j, i]
        grid[:, i] = torch.maximum(grid[:, i], out)
        sums[:, i] = sums[:, i] + out
    return grid, sums, out


def arguments(seed):
    n, m = [(4, 3), (3, 3), (1, 2), (0, 2)][seed % 4]
    g = torch.Generator().manual_seed(seed)
    return torch.randn(n, m, generator=g), torch.randn(m, generator=g)
