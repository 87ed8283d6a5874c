"""A tensor of type uint8 that is a subscript is a mask, and no place: `x[k[i]]` has another rank."""

import torch


def program(x, k):
    total, found, own = 0, [], []
    for i in range(len(k)):
        total = total + x[0][k[i]] * 2
    for i in range(len(k)):
        found.append(x[i, k[i]] + 1)
    for i in range(len(k)):
        own.append(x[i, int(k[i])] + 1)
    return total, found, own


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    k = torch.randint(0, 2, (4,), generator=g)
    return torch.randn(4, 4, generator=g), k.to((torch.uint8, torch.int64, torch.bool)[seed % 3])
