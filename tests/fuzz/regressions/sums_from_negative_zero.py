"""Sums that begin with -0.0 became 0.0 where all that is added is -0.0 too."""

import torch


def program(x):
    total = running = -0.0
    out = torch.ones(x.shape[0])
    for i in range(x.shape[0]):
        total = total + x[i]
    for i in range(x.shape[0]):
        out[i] = running
        running = running + x[i]
    return f"{float(total)}", 1 / out


def arguments(seed):
    x = torch.full((seed,), -0.0)
    x[2:] = 1.5
    return (x,)
