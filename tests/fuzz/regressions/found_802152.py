# precision: double
"""Program 802152: result: requires_grad True instead of False  [seed 3]"""

import torch


def program(y):
    n = y.shape[0]
    run1 = torch.zeros((), dtype=torch.float64)
    trace2 = torch.ones((n,), dtype=torch.float64)
    for i in range(n):
        trace2[i] = run1
        run1 = y[n - 1]
    return trace2


SIZES = [(4, 4), (5, 2), (1, 3), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = torch.randn(1, generator=g).to(torch.float64).expand(n)
    y.requires_grad_(seed != 2)
    return (y,)
