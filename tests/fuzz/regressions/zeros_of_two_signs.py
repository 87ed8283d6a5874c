"""A choice in a choice gave 0.0 where the inner one gives -0.0."""

import math

import torch


def program(x, y):
    found = []
    out = torch.ones(x.shape[0])
    for i in range(x.shape[0]):
        value = x[i].item() if y[i, 0] > 0 else -0.0
        chosen = value if x[i] > 0 else 0.0
        out[i] = chosen
        found.append(chosen)
    return 1 / out, [math.copysign(1, chosen) for chosen in found]


SIZES = [(9, 2), (1, 1), (0, 1), (30, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    return torch.randn(n, generator=g), torch.randn(n, m, generator=g)
