"""The gradient of the gradient of the angle of a complex zero is NaN, also in lanes that do not run."""

import torch


def program(x, n, m):
    out = torch.zeros((n, m), dtype=torch.float64)
    for i in range(n):
        if i == 0:
            out[i] = torch.angle(x[i])
    return out


SIZES = [(4, 3), (6, 2), (2, 4), (2, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n, m, generator=g, dtype=torch.float64) * 2).round() / 2).to(torch.complex64)
    x.requires_grad_()
    return (x, n, m)
