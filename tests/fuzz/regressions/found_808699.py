"""Program 808699: warning: <fuzzed program 1834.199>:13: batched code and loop gave different results, the loop is kept (the loop raises RuntimeError: A view was created in no_grad mode a"""

import torch


def program(x, y, steps):
    n = steps.shape[0]
    m = x.shape[1]
    out1 = torch.ones((n,))
    for i in range(n):
        for j in range(m):
            for row2 in out1:
                v12 = row2 * y[i]
                out1[i] = x[i, j]


SIZES = [(3, 4), (2, 5), (3, 0), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g)
    x.requires_grad_(seed != 2)
    y = torch.randn(n, generator=g)
    steps = torch.randint(0, max(5, 1), (n,), generator=g).to(torch.int32)
    return (x, y, steps)
