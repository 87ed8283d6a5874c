# precision: double
"""Program 240109: warning: <fuzzed program 28850.109>:13: batched code and loop gave different results, the loop is kept (values['result']: 0.0 instead of 0.75)"""

import torch


def program(x):
    n = len(x)
    m = x.shape[1]
    total1 = 0.0
    out2 = torch.zeros((m,), dtype=torch.float64)
    for i in range(m):
        v4 = out2[0]
        for j in range(1, n):
            v5 = v4
            out2[i] = x[i,].sum()
        total1 += v4


SIZES = [(4, 3), (3, 3), (2, 1), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(2 * n, m, generator=g) * 2).round() / 2).to(torch.float64)[::2]
    return (x,)
