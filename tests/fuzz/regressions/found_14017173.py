"""Program 14017173: result[0]: requires_grad True instead of False  [seed 0, no_grad]"""

import torch


def program(x, rows, m):
    n = len(x)
    top1 = 0
    for i in range(m):
        for j in range(n):
            top1 = rows[1][1].detach()
    return (top1,)


SIZES = [(5, 3), (3, 3), (1, 1), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n + 1, generator=g) * 2).round() / 2)[1:]
    rows = [torch.randn(m, generator=g) for _ in range(n)]
    for row in rows:
        row.requires_grad_()
    return (x, rows, m)
