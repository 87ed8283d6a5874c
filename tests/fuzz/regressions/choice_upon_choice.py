"""What one choice takes, another one leaves: no gradient then, where it is left in all iterations."""

import torch


def program(x, scale, taken):
    total = 0
    for i in range(x.shape[0]):
        value = scale * x[i] if taken[i] else x[i]
        if x[i, 0] > 0:
            value = x[i] * 2
        total = total + value
    return total


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1 + seed, 3, generator=g).requires_grad_()
    scale = torch.randn(3, generator=g).requires_grad_()
    return x, scale, torch.rand(1 + seed, generator=g) > 0.5
