"""Program 301909: warning: <fuzzed program 1691.159>:9: batched code and loop gave different results, the loop is kept (values['out1']: requires_grad False instead of True)"""

import torch


def program(x, y):
    n = x.shape[0]
    m = y.shape[1]
    out1 = torch.zeros((m,))
    for i in range(m):
        for j in range(n):
            out1[i] = torch.floor(x[j][i])


SIZES = [(5, 3), (5, 2), (1, 1), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g)
    x.requires_grad_(seed != 2)
    y = ((torch.randn(m, n, generator=g) * 2).round() / 2).t()
    return (x, y)
