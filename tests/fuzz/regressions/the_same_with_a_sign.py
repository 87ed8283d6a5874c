"""``+x[i]`` is ``x[i]``, in the memory of ``x``, also where the numbers are complex."""

import torch


def program(x, f, n, m):
    out = []
    for i in range(n):
        out.append(+x[i])
    return out, [torch.real(x[i]) for i in range(n)]


SIZES = [(4, 3), (1, 2), (0, 3), (2, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g, dtype=torch.float64).to(torch.complex64)
    return x, [0.5] * n, n, m
