# precision: double
"""A number that does not fit raises where it is stored, and an element of a wider tensor wraps around."""

import torch


def program(x, y):
    c = torch.zeros(len(x), dtype=torch.int8)
    for k in range(len(x)):
        if k == 0:
            s = 300
        else:
            s = y[k]
        c[k] = s


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [7, 0, 3, 9][seed % 4]
    x = (torch.rand(n, generator=g, dtype=torch.float64) * 9 + 1).to(torch.float32)
    y = (torch.rand(n, generator=g, dtype=torch.float64) * 9).to(torch.int64)
    return (x, y)
