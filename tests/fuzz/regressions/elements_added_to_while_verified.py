"""A program that gives way after it was verified: what it adds to elements is put back."""

import torch


def program(x, y, cube, numbers):
    n = x.shape[1]
    m = cube.shape[1]
    out1 = torch.zeros((m,), dtype=torch.float32)
    kept3 = torch.full((m,), -1.0, dtype=torch.float32)
    out4 = torch.ones((n,), dtype=torch.float32)
    for row0 in out1:
        for j in range(1, m):
            if y[j] > row0:
                pass
            v7 = cube[:, j - 1, j] + x[j]
            for g8 in range(n):
                if out4[g8] > x[j, g8]:
                    pass
            else:
                found2 = 7
            kept3[j] += found2
            out1[j] = min(y[j], numbers[j // 2])
    return (kept3,)


SIZES = [(5, 3), (3, 3), (2, 2), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(2 * m, n, generator=g) * 2).round() / 2)[::2]
    x.requires_grad_(seed != 2)
    y = torch.randn(m, generator=g)
    cube = torch.randn(2 * n, m, m, generator=g)[::2]
    numbers = ((torch.randn(m, generator=g) * 2).round() / 2).to(torch.float64).tolist()
    return (x, y, cube, numbers)
