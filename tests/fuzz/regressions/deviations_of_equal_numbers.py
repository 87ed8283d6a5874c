"""Deviations of equal numbers: the gradients of their gradients are zeros."""

import torch


def program(x):
    n = len(x)
    kept1 = torch.zeros((n,), dtype=torch.float32)
    for i in range(n):
        chosen2 = x[x - x[i] < 0.75]
        kept1[i] += chosen2.std()
    return kept1


SIZES = [(6, 2), (7, 4), (1, 3), (0, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1, generator=g).expand(n)
    x.requires_grad_(seed != 2)
    return (x,)
