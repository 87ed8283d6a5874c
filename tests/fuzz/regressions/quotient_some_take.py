"""A quotient that is rounded down has no derivative: backward raises only where an iteration took it."""

import torch


def program(x, bins1, s, e):
    kept2 = torch.zeros((len(x),), dtype=torch.float64)
    for i in range(len(x)):
        level4 = x[i] // 3
        inner3 = 0
        for c6 in range(s[i], e[i]):
            inner3 += x[i] if x[i] <= bins1[i] else level4
        kept2[i] = inner3
    return kept2


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(4, generator=g).to(torch.float64)
    x.requires_grad_()
    return (x, torch.ones(4).double(), [0, 1, 0, 2], [2, 3, 4, 5])
