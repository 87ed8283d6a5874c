"""Calls of many sizes, none of them timed, raised an error of the bookkeeping."""

import numpy as np
import torch


def program(x, steps):
    n = steps.shape[0]
    m = x.shape[0]
    kept2 = torch.zeros((m,), dtype=torch.float32)
    items3 = []
    sums4 = torch.zeros((m,), dtype=torch.float32)
    sums5 = torch.full((n,), -1.0)
    for i, ii in np.ndindex(m, n):
        if (x[m - 1 - i, :] > 1).all():
            found1 = 0.0
            for g6 in range(n):
                if (i % 2 == 0) and (x[i, max(g6 - 1, 0)] != sums5[g6]):
                    found1 = g6
                    break
            kept2[i] = found1
        elif x[i, ii] != 3:
            sums4 = sums4 * 0.5 + (sums4 // (abs(x[:, ii]) + 1)).clamp(min=0)
        else:
            sums5 += torch.cumsum(sums5.clone(), 0)
        for j in range(ii, n):
            v7 = (torch.roll(x[:, j], 1)) * sum([0.1 for s in range(m)])
            items3.append(v7[i : i + 2].max() // (abs(v7[i]) + 1))
            found1 = 0.0
            for g8 in range(n):
                if (j > 2) and (g8 > 0 and sums5[g8 - 1] >= sums5[g8]):
                    found1 = g8
                    break
            kept2[i] = found1
    return kept2, items3, sums4, sums5


SIZES = [(3, 4), (5, 2), (2, 2), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1, n, generator=g).expand(m, n)
    x.requires_grad_(seed != 2)
    steps = torch.randint(0, max(5, 1), (n,), generator=g).to(torch.int64)
    return (
        x,
        steps,
    )
