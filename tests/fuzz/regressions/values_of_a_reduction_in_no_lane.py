"""What is added under a condition that no iteration meets is the greatest of a tensor by `torch.max(x, 0).values`."""

import torch


def program(x, steps):
    n = len(steps)
    out1 = torch.ones_like(x)
    for j in range(n):
        if x[j] > 1:
            out1[j] += torch.max(x, 0).values
    return out1


SIZES = [(4, 3), (3, 3), (2, 1), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + 1, generator=g)[1:]
    x.requires_grad_(seed != 2)
    steps = torch.randint(0, max(5, 1), (n,), generator=g).to(torch.int64)
    return x, steps
