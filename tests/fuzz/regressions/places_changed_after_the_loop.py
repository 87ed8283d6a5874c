# precision: double
"""Places that a sequential loop adds at were kept for gradients, and their tensor changes after the loop."""

import torch


def program(x, k):
    out = torch.zeros_like(x)
    for i in range(1, -1, -1):
        out[i] = 0.0
        out[k[i]] += x[:i].sum()
    k.clamp_(max=0)
    return (out,)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [5, 2, 3, 6][seed % 4]
    x = torch.randn(n, generator=g, dtype=torch.float64).requires_grad_()
    return x, torch.randint(0, n, (n,), generator=g)
