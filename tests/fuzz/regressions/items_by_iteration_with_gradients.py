"""Each item of a list that is handed out gives gradients to what its own iteration took."""

import torch


def program(x, scale):
    n = x.shape[0]
    items = []
    for i in range(n):
        if i % 2 == 0:
            items.append(x[i] * x[i])
        else:
            items.append(scale - x[i])
    return items


SIZES = [4, 3, 1, 2]


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(SIZES[seed % 4], generator=g)
    x.requires_grad_(seed == 1)
    scale = torch.tensor(0.5 + 0.25 * seed)
    scale.requires_grad_()
    return (x, scale)
