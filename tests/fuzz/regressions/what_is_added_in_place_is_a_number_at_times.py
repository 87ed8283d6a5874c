"""A number that is added first makes a tensor without dimensions, which a row cannot widen in place."""

import torch


def program(x, y):
    n = len(x)
    kept2 = 0.0
    for i in range(n):
        if x[i] >= 1.0:
            either1 = y
        else:
            either1 = 0
        kept2 += either1 + x[i]


SIZES = [(6, 2, 3), (5, 2, 1), (2, 1, 1), (1, 1, 1)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    y = (torch.randn(m, generator=g) * 2).round() / 2
    return (x, y)
