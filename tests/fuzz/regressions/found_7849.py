# precision: double
"""Program 7849: gradient: raised RuntimeError('one of the variables needed for gradient computation has been modified by an inplace operation: [torch.Dou  [seed 0]"""

import torch


def program(x, twin):
    n = twin.shape[0]
    m = x.shape[1]
    sums1 = torch.zeros((m,), dtype=torch.float64)
    out2 = torch.zeros((m,), dtype=torch.float64)
    for i in range(n):
        for left1 in sums1:
            sums1 += x[i]
    for i in range(m):
        number5 = float(out2[i])
        v6 = sums1[i]
        out2[i] += v6 * number5
    return (out2,)


SIZES = [(4, 4, 3), (3, 3, 3), (0, 3, 2), (1, 1, 1)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g).to(torch.float64)
    x.requires_grad_(seed != 2)
    base = torch.randn(n + 1, generator=g).to(torch.float64)
    twin = base[1:]
    return (x, twin)
