"""An update of a place by a function that takes tensors alone, of what is a number in some iterations."""

import torch


def program(x):
    n = x.shape[0]
    out = torch.zeros(n)
    for i in range(1, n):
        total = sum(out[k] for k in range(n))
        out[i] = torch.maximum(out[i], total if x[i] > 0.1 else 1.5)
    return out


def arguments(seed):
    x = torch.randn(3 + seed, generator=torch.Generator().manual_seed(seed))
    return (x.abs() + 0.2 if seed % 2 else x,)
