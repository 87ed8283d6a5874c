# precision: double
"""A row that a loop stores into an array is read by it, not written: it is filled before."""

import torch


def helper(a, b):
    if a == b:
        return a
    c = torch.sigmoid(b)
    return c - b


def program(x, y, pairs, k):
    n = y.shape[0]
    m = y.shape[1]
    count1 = 0
    out2 = torch.zeros((m,), dtype=torch.float64)
    grid3 = torch.zeros((m, k), dtype=torch.float64)
    for i in range(k):
        v4 = i * (-1.0)
        for j in range(i + 1, k):
            if 0 < v4 <= 1.5:
                continue
            number5 = round(float(torch.linalg.norm(grid3[:, j])), 2)
            if number5 == 1:
                count1 += 1
        grid3[:, i] = out2
    out2 = out2 * 2
    return count1, out2, grid3


SIZES = [(5, 3, 2), (7, 4, 2), (1, 3, 2), (3, 0, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n, generator=g) * 2).round() / 2).to(torch.float64)
    x.requires_grad_(seed != 2)
    y = ((torch.randn(n, m, generator=g) * 2).round() / 2).to(torch.float64)
    y.requires_grad_(seed != 2)
    pairs = [((r * 3) % max(n, 1), r % max(m, 1)) for r in range(4) if n and m]
    return (
        x,
        y,
        pairs,
        k,
    )
