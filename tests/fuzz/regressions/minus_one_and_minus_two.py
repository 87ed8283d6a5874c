# precision: double
"""Reads at -i and at -2 * i, and factors of -1j and -2j, were one: Python hashes -1 as it hashes -2."""

import torch


def program(x, n):
    out = torch.zeros(n, dtype=torch.complex128)
    for i in range(n):
        out[i] = x[2 * n - i] * torch.exp(-1j * x[i]) + x[2 * n - 2 * i] * torch.exp(-2j * x[i])
    return out


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = (6, 1, 3, 9, 4)[seed]
    return torch.randn(2 * n + 1, dtype=torch.float64, generator=g), n
