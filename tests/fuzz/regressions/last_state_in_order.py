# precision: double
"""The last state of a recurrence over short steps is handed out: it lies in memory as the loop's own does."""

import torch


def program(x, y):
    n = len(y)
    items1 = []
    sums2 = torch.zeros((n,), dtype=torch.float64)
    for left0 in x:
        v4 = sums2
        items1.append(v4.square())
        sums2 = sums2 * 0.5
    for row0 in sums2:
        items1.append(sums2)
    return (items1,)


SIZES = [(4, 3), (5, 2), (1, 1), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(1, generator=g) * 2).round() / 2).to(torch.float64).expand(n)
    y = torch.randn(n, generator=g).to(torch.float64)
    return (x, y)
