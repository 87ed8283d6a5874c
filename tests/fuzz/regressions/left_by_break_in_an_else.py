"""The clause of an inner loop, or a context, leaves a loop that a return leaves as well: what follows still runs."""

import torch


def total(x, i):
    s = torch.zeros(())
    for j in range(x.shape[1]):
        for k in range(2):
            if x[i, j] < -1:
                return s
            if x[i, j] * k > 0.2:
                break
        else:
            break
        s = s + x[i, j]
    return s * 2 + 7


def weighted(x, i):
    s = torch.zeros(())
    for j in range(x.shape[1]):
        with torch.no_grad():
            if x[i, j] > 1:
                break
            if x[i, j] < -1:
                return s
        s = s + x[i, j]
    return s + 100


def program(x):
    out = torch.zeros(x.shape[0], 2)
    for i in range(x.shape[0]):
        out[i, 0] = total(x, i)
        out[i, 1] = weighted(x, i)
    return out


def arguments(seed):
    return (torch.randn(6, 4, generator=torch.Generator().manual_seed(seed)),)
