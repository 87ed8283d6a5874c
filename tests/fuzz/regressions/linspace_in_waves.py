"""Under `torch.vmap` `linspace` keeps the dtype of its bounds, alone it does not: it is no work for waves."""

import torch


def program(v, n):
    out = []
    for i in range(n):
        out.append(torch.linspace(v[i], 0.5, 4))
    return out


SIZES = [(4, 3), (1, 2), (2, 1), (4, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    v = ((torch.randn(n, generator=g, dtype=torch.float64) * 2).round() / 2).to(torch.float64)
    return (v, n)
