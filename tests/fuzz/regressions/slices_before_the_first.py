# precision: double
"""Slices that begin before the first element are at the end: no blocks side by side."""

import torch


def program(x, m):
    scaled3 = x
    for i in range(m):
        part1 = slice(i - 1, i)
        scaled3[part1] = 1.5
    return scaled3


SIZES = [(3, 4), (2, 5), (1, 3), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g).to(torch.float64)
    return (x, m)
