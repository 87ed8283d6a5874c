"""``min(x[i])`` of Python: NaN was the least of all, and equal items shared the gradient."""

import torch


def program(x, y):
    total = 1
    for i in range(x.shape[0]):
        total = total + min(x[i]) * 2 + max(y[i])
    return total


def arguments(seed):
    n, m = [(4, 3), (2, 5), (1, 1), (3, 2)][seed % 4]
    g = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(n, m, generator=g).round() for _ in range(2))
    y[torch.rand(n, m, generator=g) < 0.3] = float("nan")
    return x, y
