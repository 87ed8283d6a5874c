"""The last of running averages is added to in place: it was a view of what a custom function made."""

import torch


def program(x):
    total = torch.zeros(x.shape[1], dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total = total * 0.5 + x[i] * x[i]
        total += x[i] / 2
    return total


def arguments(seed):
    n, m = [(4, 3), (3, 5), (1, 2), (0, 2)][seed % 4]
    return (torch.randn(n, m, generator=torch.Generator().manual_seed(seed)).requires_grad_(),)
