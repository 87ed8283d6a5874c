"""A column less its first element, which is zero as soon as it was written."""

import torch


def program(x):
    for i in range(x.shape[1]):
        x[:, i] -= x[0, i]
    return x


def arguments(seed):
    return (torch.randn(3 + seed, 4, generator=torch.Generator().manual_seed(seed)),)
