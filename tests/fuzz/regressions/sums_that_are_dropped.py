"""A sum that is taken only under a condition, one of two sums, and a counter that is put back."""

import torch


def program(x, c):
    total, other, count = torch.zeros(()), torch.zeros(()), 0
    for i in range(x.shape[0]):
        grown = total + x[i]
        if c[i] > 0:
            total = grown
        more, less = other + x[i], other - 2
        other = more if c[i] > 1 else less
        before = count
        count = count + 1
        count = before if c[i] > 0 else count
    return (total, other, count)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = (4, 1, 6, 0)[seed % 4]
    return torch.randn(n, generator=g), torch.randint(-1, 3, (n,), generator=g).tolist()
