"""Places of a vector that moves with a loop are met again by later iterations."""

import torch


def program(x, idx, y, p):
    out = x.clone()
    for i in range(4):
        rows = idx + i
        out[rows] = out[rows] * 0.5 + x[i]
    for i in range(5):
        t = idx + i
        y[i] = x[t].sum()
        x[t] = y[i] + 1
    last = torch.zeros(len(p), dtype=torch.int64)
    for i in range(len(p)):
        last[i] = p[p[i:] + 1].sum()
    return out, x, y, last


def arguments(seed):
    x = torch.arange(1.0, 17, dtype=torch.float64)
    p = torch.tensor([3, 1, 0, 2, 4, 4, 1, 0, 5, 6])
    return x, torch.tensor([0, 1, 2 + seed % 2]), torch.zeros(5, dtype=torch.float64), p
