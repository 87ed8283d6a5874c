"""What a recurrence starts from is of more elements than what it adds: the result is as wide as the start."""

import torch


def program(x, n, m):
    held = torch.zeros((m,), dtype=torch.float32)
    square = torch.zeros((m, m))
    rows = []
    for i in range(n):
        held = -held
    for i in range(n):
        square = square * 0.5 + x[i]
    for j in range(m):
        one = torch.zeros(m + 1)
        for i in range(n):
            one = one * 0.9 + x[i, j]
        rows.append(one)
    return held, square, rows


SIZES = [(4, 3), (2, 4), (1, 4), (3, 2), (0, 2)]


def arguments(seed):
    n, m = SIZES[seed]
    return (torch.randn(n, m, generator=torch.Generator().manual_seed(seed)), n, m)
