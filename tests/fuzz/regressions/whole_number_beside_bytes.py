# precision: double
"""A whole number times bytes is a byte, where an element of a tensor of floats makes floats."""

import torch


def program(x, y, z):
    out, d, n = ([], {}, 0)
    for k in range(len(x)):
        s = min(y[k], k)
        r = z
        r = s * x[k]
        if r * 100 >= 29:
            n += 1
    return (n,)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [7, 0, 3, 9][seed % 4]
    x = (torch.rand(n, generator=g, dtype=torch.float64) * 9 + 1).to(torch.int8)
    y = (torch.rand(n, generator=g, dtype=torch.float64) * 9).to(torch.float16)
    return (x, y, 0.29)
