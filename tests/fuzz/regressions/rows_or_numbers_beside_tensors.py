"""A row or a number meets a number or a tensor without dimensions: a tensor in all iterations, of two shapes."""

import torch


def program(y, n):
    kept = []
    for i, row in enumerate(y):
        for j in range(n):
            part = -0.5 if y[i, j] >= 1 else row[i] / 3
            either = row + 1 if -1 < y[i, i] <= 1 else 1.0
            kept.append(abs(either) + part)
    return kept


def arguments(seed):
    m, n = [(2, 2), (2, 1), (3, 2), (4, 1)][seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = (torch.randn(m, m, generator=g) * 2).round() / 2
    y.requires_grad_(seed != 2)
    return y, n
