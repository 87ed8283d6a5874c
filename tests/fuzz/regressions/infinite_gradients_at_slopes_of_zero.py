"""Program 102727: gradient 0: 0.0 instead of nan: where the slope is 0 by rule, an infinite gradient still is no number."""

import torch


def program(y, w):
    held = torch.zeros((), dtype=torch.float64)
    for i in range(len(y)):
        held = held - held ** y[i]
    angles = torch.zeros(len(y), dtype=torch.float64)
    for i in range(len(y)):
        angles[i] = torch.atan2(y[i] - y[i], y[i] * 0) * w[i]
    return held, angles


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.rand(4, generator=g, dtype=torch.float64).requires_grad_()
    return y, torch.tensor([1.0, float("inf"), float("nan"), 0.0], dtype=torch.float64)
