"""A list holds the tensor itself: what is stored into it after the append is seen in the list."""

import torch


def program(x, n):
    out = []
    for i in range(n):
        v = torch.zeros(3)
        out.append(v)
        v[1] = x[i, 0]
        for k in range(2):
            v[k] += x[i, k]
    return torch.stack(out)


SIZES = [3, 1, 2, 5]


def arguments(seed):
    n = SIZES[seed % 4]
    return torch.randn(n, 3, generator=torch.Generator().manual_seed(seed)), n
