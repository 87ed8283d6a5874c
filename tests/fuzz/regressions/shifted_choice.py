"""What the last iteration chose is never read: it gives no gradient."""

import torch


def program(x, scale, taken):
    out = torch.zeros_like(x)
    value = x[0] * 0.0
    for i in range(x.shape[0]):
        out[i] = value
        value = scale * x[i] if taken[i] else x[i]
    return out


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1 + seed, 3, generator=g).requires_grad_()
    scale = torch.randn(3, generator=g).requires_grad_()
    return x, scale, torch.rand(1 + seed, generator=g) > 0.5
