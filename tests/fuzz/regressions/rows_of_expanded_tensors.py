"""PyTorch writes to no row that shows one element several times; a kernel is not to write to it either."""

import torch


def program(x, out):
    state = x[0]
    for i in range(len(x)):
        state = torch.sin(state) * x[i]
        out[i] = state
    for i in range(len(x)):
        out[i, :2] += x[i, 0]
    return out


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(3, 4, generator=g)
    outs = (
        torch.zeros(3, 4),
        torch.zeros(3, 1).expand(3, 4),
        torch.zeros(1, 4).expand(3, 4),
        torch.zeros(1).expand(3, 4),
    )
    return x, outs[seed % 4]
