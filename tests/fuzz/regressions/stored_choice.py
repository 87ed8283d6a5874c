"""A choice is stored in some iterations only."""

import torch


def program(x, scale, taken):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        value = scale * x[i] if taken[i] else x[i]
        if x[i, 0] > 0:
            out[i] = value
    return out


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1 + seed, 3, generator=g).requires_grad_()
    scale = torch.randn(3, generator=g).requires_grad_()
    return x, scale, torch.rand(1 + seed, generator=g) > 0.5
