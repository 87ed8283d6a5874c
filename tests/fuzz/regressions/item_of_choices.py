"""An item of a list may be a view of an argument, or not."""

import torch


def program(x, scale, taken):
    items = []
    for i in range(x.shape[0]):
        items.append(scale * x[i] if taken[i] else x[i])
    return items[0]


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1 + seed, 3, generator=g).requires_grad_()
    scale = torch.randn(3, generator=g).requires_grad_()
    return x, scale, torch.rand(1 + seed, generator=g) > 0.5
