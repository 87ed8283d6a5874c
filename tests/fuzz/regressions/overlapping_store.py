"""PyTorch refuses to store a part of a row into another part of it that overlaps."""

import torch


def program(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i]
        out[i, 1:] -= out[i, :-1]
    return out


def arguments(seed):
    return (torch.randn(3, 2 + seed, generator=torch.Generator().manual_seed(seed)),)
