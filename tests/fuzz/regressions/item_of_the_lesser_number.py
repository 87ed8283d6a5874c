# precision: double
"""The lesser of an element and a number is asked for its item, which numbers have not: the kernel takes tensors alone."""

import torch


def program(x, mask):
    n = mask.shape[0]
    m = x.shape[1]
    out1 = torch.ones((m,), dtype=torch.float64)
    place2 = (0, 0)
    seen3 = 0
    for i in range(m):
        for j in range(n):
            number6 = float(x[1, i])
            v7 = min(x[j, i], number6)
            for l in range(n):
                out1[i] += v7.item()
                place2 = (j, j)
            seen3 += place2[1]


SIZES = [(6, 2), (5, 2), (0, 0), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n, m, generator=g) * 2).round() / 2).to(torch.float64)
    mask = torch.randint(0, max(2, 1), (n,), generator=g).to(torch.int64).bool()
    return (x, mask)
