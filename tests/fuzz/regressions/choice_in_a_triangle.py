"""What an iteration of the outer loop chose is read in none of the inner one, if that has none."""

import torch


def program(x, scale, taken):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        value = scale[0] if taken[i] else x[i, 0]
        for _ in range(i):
            total = total + value
    return total


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1 + seed, 3, generator=g).requires_grad_()
    scale = torch.randn(3, generator=g).requires_grad_()
    return x, scale, torch.rand(1 + seed, generator=g) > 0.5
