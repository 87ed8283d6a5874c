"""A gradient that is summed in single precision is nearer to the one in double precision than the loop's own."""

import torch


def program(x, y):
    n = x.shape[1]
    m = x.shape[0]
    out1 = torch.ones((n,), dtype=torch.float64)
    for i in range(m):
        for j in range(n):
            out1[j] -= sum((y[j] for u in range(m)))
    return out1


SIZES = [(5, 3), (7, 4), (3, 0), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g).to(torch.bfloat16)
    y = torch.randn(n, generator=g).to(torch.bfloat16)
    y.requires_grad_(seed != 2)
    return (x, y)
