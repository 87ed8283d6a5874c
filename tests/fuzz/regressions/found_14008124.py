"""A gradient of one root alone is zero for the other rows of a batch of calls, of which one is the root of zero."""

import torch


def program(y):
    m = y.shape[0]
    table1 = {}
    for i in range(m):
        table1[i] = 3
        table1[i] = torch.sqrt(y[i])
    return table1


SIZES = [(5, 3), (3, 3), (1, 4), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = ((torch.randn(m, generator=g) * 2).round() / 2).to(torch.bfloat16)
    y.requires_grad_(seed != 2)
    return (y,)
