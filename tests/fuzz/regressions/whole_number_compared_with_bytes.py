# precision: double
"""A whole number is compared with bytes as a byte, an element of a tensor of floats as a float."""

import torch


def program(x, y):
    c = torch.zeros(len(x), dtype=torch.float32)
    for k in range(len(x)):
        s = max(16777217, y[k])
        r = s
        if r > x[k]:
            c[k] = 2
    return (c,)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [7, 0, 3, 9][seed % 4]
    x = (torch.rand(n, generator=g, dtype=torch.float64) * 9 + 1).to(torch.int8)
    y = (torch.rand(n, generator=g, dtype=torch.float64) * 9).to(torch.float16)
    return (x, y)
