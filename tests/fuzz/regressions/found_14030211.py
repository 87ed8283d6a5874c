"""Program 14030211: result: requires_grad True instead of False  [seed 4]"""

import torch


def program(y):
    n = len(y)
    run1 = torch.zeros((n,), dtype=torch.float32)
    trace2 = torch.ones((n, n))
    for i in range(n):
        if y[i] <= -1.0:
            trace2[i] = run1
            run1 += y
    return trace2


SIZES = [(5, 3), (7, 4), (2, 2), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = torch.randn(n, generator=g)
    y.requires_grad_(seed != 2)
    return (y,)
