"""Program 500513: result: requires_grad True instead of False  [seed 2]"""

import torch


def program(x, cube, rows):
    n = len(cube)
    m = x.shape[1]
    out1 = torch.zeros((m,), dtype=torch.float32)
    for i in range(n):
        for j in range(m):
            out1[j] = torch.maximum(out1[j], rows[i][j] if rows[i][j] >= 1 else cube[i, j, j])
    return out1


SIZES = [(6, 2), (3, 3), (2, 1), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g).t()
    cube = torch.randn(n, m, m, generator=g)
    rows = [torch.randn(m, generator=g) for _ in range(n)]
    for row in rows:
        row.requires_grad_()
    return (x, cube, rows)
