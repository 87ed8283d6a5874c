"""A loop that raises half way, after stores into arguments with and without a history."""

import torch


def program(x, y):
    for i in range(len(x)):
        y[i] = x[i] * 2.0
        y[i] *= 1.0 / (i - 3)
    return y


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(6, generator=g).requires_grad_()
    return x, [x * 3.0, torch.ones(6), (x * 2.0)[:], torch.ones(8)[1:]][seed % 4]
