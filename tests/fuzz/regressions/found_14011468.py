# precision: double
"""Program 14011468: gradient of result -1 by anything: there is none  [seed 0]"""

import torch


def program(x, y):
    n = len(x)
    m = x.shape[1]
    outer1 = []
    for i in range(n):
        row2 = []
        for e6 in range(m):
            row2.append(y[e6] // 3)
        for e7 in range(m):
            row2.append(torch.sum(x[i], dim=-1))
        outer1.append(row2)
    return outer1


SIZES = [(5, 3), (3, 3), (1, 3), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n, m, generator=g) * 2).round() / 2).to(torch.float64)
    x.requires_grad_(seed != 2)
    y = torch.randn(m, generator=g).to(torch.float64)
    y.requires_grad_(seed != 2)
    return (x, y)
