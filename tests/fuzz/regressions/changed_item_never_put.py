"""What nothing ever puts into a dict or a list has no type; adding to it raises, as reading it does."""

import torch


def program(x, k):
    found = []
    if k < 2:
        d = {}
        for i in range(len(x)):
            d[-1] += x[i]
        found.append(d)
    else:
        a = []
        for i in range(len(x)):
            a[0] *= x[i]
        found.append(a)
    return found


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn([4, 0, 3, 2][seed % 4], generator=g), seed
