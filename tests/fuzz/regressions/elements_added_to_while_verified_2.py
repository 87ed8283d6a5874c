"""A program that gives way after it was verified: what it adds to elements is put back."""

import torch


def program(x, y, cube, idx, mask, rows, numbers):
    n = x.shape[1]
    m = cube.shape[1]
    out1 = torch.zeros((m,), dtype=torch.float32)
    kept3 = torch.full((m,), -1.0, dtype=torch.float32)
    out4 = torch.ones((n,), dtype=torch.float32)
    for row0 in x:
        v5 = 2 / (abs(0.25) + 1) if 0.1 > 2 else 3
    for row0 in out1:
        for j in range(1, m):
            v6 = (row0 + row0) ** 3
            if y[j] > row0:
                break
            v7 = torch.sum((cube[:, j - 1, j] + x[j]), dim=-1)
            if y[j - 1] >= v7:
                v7 += 1
            found2 = -1
            for g8 in range(n):
                if out4[g8] > x[j, g8]:
                    continue
                if y[j] != 0.25:
                    found2 = g8
                    break
            else:
                found2 = 7
            kept3[j] += found2
            out1[j] = min(y[j], numbers[j // 2])
    return out1, kept3, out4


SIZES = [(5, 3), (3, 3), (2, 2), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(2 * m, n, generator=g) * 2).round() / 2)[::2]
    x.requires_grad_(seed != 2)
    y = torch.randn(m, generator=g)
    cube = torch.randn(2 * n, m, m, generator=g)[::2]
    cube.requires_grad_(seed != 2)
    idx = torch.randint(0, max(m, 1), (n,), generator=g).to(torch.int64).tolist()
    mask = torch.randint(0, max(2, 1), (n,), generator=g).to(torch.int64).bool()
    rows = [torch.randn(m, generator=g) for _ in range(n)]
    numbers = ((torch.randn(m, generator=g) * 2).round() / 2).to(torch.float64).tolist()
    return (
        x,
        y,
        cube,
        idx,
        mask,
        rows,
        numbers,
    )
