"""Program 220492: result[0]: requires_grad True instead of False  [seed 0]"""

import torch


def program(x, y, n):
    out1 = torch.zeros_like(y)
    for i in range(n):
        v3 = x[i]
        out1[i] += y[i]
    return (out1,)


SIZES = [(3, 4), (2, 5), (1, 3), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n, generator=g) * 2).round() / 2).to(torch.bfloat16)
    x.requires_grad_(seed != 2)
    y = torch.randn(n + 1, generator=g).to(torch.bfloat16)[1:]
    return (x, y, n)
