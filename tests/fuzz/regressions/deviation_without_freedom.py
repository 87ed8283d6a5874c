"""The deviation of one number is NaN, and so is its gradient: not that of lanes that do not run."""

import torch


def program(sx, f, n):
    out = torch.zeros((n,), dtype=torch.float32)
    for i in range(n):
        if f[i] > 1.0:
            out[i] += torch.std(sx[i])
    return out


SIZES = [(4, 3), (5, 3), (0, 3), (1, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    sx = torch.rand(n, generator=g, dtype=torch.float64).to(torch.complex64)
    sx.requires_grad_()
    f = [0.5 + 0.75 * r - 0.1 * seed for r in range(n)]
    return (sx, f, n)
