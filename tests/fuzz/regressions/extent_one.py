"""An extent of one broadcasts against another one only if the loop says so."""

import torch


def program(a, b):
    out = torch.zeros(a.shape[0], b.shape[0])
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = (a[i] * b[j]).sum() + a[i].squeeze().sum()
    return out


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n, m, k = [(3, 2, 4), (1, 2, 4), (3, 1, 1), (1, 1, 1), (0, 2, 3)][seed]
    return torch.randn(n, k, generator=g), torch.randn(m, k, generator=g)
