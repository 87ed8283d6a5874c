"""A view was read after a kernel had written to what it shows, and not before."""

import torch


def program(x, a, b):
    total = 0.0
    out = []
    c = a[:]
    d = b
    for i in range(len(x)):
        total = total + c[i]
        c = c
        for j in range(3):
            a[j] = c[j + 1]
    return total, out, c


def arguments(s):
    g = torch.Generator().manual_seed(s)
    return (
        torch.randn(5, dtype=torch.float64, generator=g),
        torch.randn(6, dtype=torch.float64, generator=g),
        torch.randn(6, dtype=torch.float64, generator=g),
    )
