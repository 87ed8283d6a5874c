"""A count up to a bound that each iteration lowers."""

import torch


def program(x, n):
    left = torch.full((1,), n)
    j = 0
    while j < int(left[0]) and x[j] < 1.5:
        left[0] -= 1
        j += 1
    return (j, left)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = (8, 1, 5, 0)[seed % 4]
    return torch.randn(n, generator=g), n
