"""Rows that are expanded to the size that they have are stacked: the result was the argument's memory."""

import torch


def program(square, m):
    out = []
    for i in range(square.shape[0]):
        out.append(square[i].expand(m, -1))
    return torch.stack(out)


def arguments(seed):
    n, m = [(4, 3), (6, 2), (1, 1), (2, 3)][seed % 4]
    g = torch.Generator().manual_seed(seed)
    return torch.randn(n, m, m, generator=g), m
