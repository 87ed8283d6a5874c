"""A penalty through elu had a gradient at zero, where torch has none for the second derivative."""

import torch
import torch.nn.functional as F


def program(x):
    out = []
    for i in range(len(x)):
        row = x[i] * 1.0
        (g,) = torch.autograd.grad(F.elu(row).sum() + F.selu(row).sum(), row, create_graph=True)
        out.append((g * g).sum())
    return torch.stack(out)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    return (torch.randn(3, 4, generator=g, dtype=torch.float64).mul(2).trunc().requires_grad_(),)
