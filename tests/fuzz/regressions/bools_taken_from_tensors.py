"""PyTorch has no difference of a tensor and a bool, also where a number is one in some iterations only."""

import torch


def program(x, n):
    s, t, found = 0.0, 0, {}
    for i in range(n):
        if x[i] > 0:
            s = i > 1
        else:
            s = x[i] - s
    for i in range(n):
        t = not t - x[i] if i < 2 else t
    for k, v in enumerate(x.tolist()):
        s = (not s) if v > 0 else 1.5
        found[k] = x[0] - s
    return s, t, found


def arguments(seed):
    n = [6, 3, 1, 0][seed % 4]
    return torch.randn(6, generator=torch.Generator().manual_seed(seed)), n
