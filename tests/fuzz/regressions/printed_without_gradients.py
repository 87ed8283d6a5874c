"""A view of a tensor that asks for gradients is printed where they are switched off."""

import torch


def program(x, y):
    n = x.shape[0]
    m = x.shape[1]
    for i in range(1, m):
        for j in range(n):
            print("at", i, j, y[j - 1])


SIZES = [(4, 4), (3, 3), (2, 1), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g)
    y = (torch.randn(n, generator=g) * 2).round() / 2
    y.requires_grad_(seed != 2)
    return (x, y)
