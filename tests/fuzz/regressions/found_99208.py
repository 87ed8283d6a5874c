"""Program 99208: result[0]: requires_grad True instead of False  [seed 0]"""

import torch


def program(x, y, scale):
    n = x.shape[0]
    m = x.shape[1]
    out1 = torch.ones_like(y)
    for i in range(m):
        for j in range(n):
            if scale > y[j]:
                pass
            out1[j] += out1[j]
    return (out1,)


SIZES = [(4, 4), (2, 5), (1, 1), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(2 * n, m, generator=g).to(torch.float64)[::2]
    y = ((torch.randn(n, generator=g) * 2).round() / 2).to(torch.float64)
    y.requires_grad_(seed != 2)
    rows = [torch.randn(m, generator=g).to(torch.float64) for _ in range(n)]
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float64)
    return (x, y, scale)
