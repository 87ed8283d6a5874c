# precision: double
"""Program 250889: warning: <fuzzed program 21184.0>:8: batched code and loop gave different results, the loop is kept (values['result']: requires_grad True instead of False)"""

import torch


def program(x, y, n):
    m = y.shape[0]
    grid1 = torch.full((n, n), 1.0, dtype=torch.float64)
    for i in range(n):
        for j in range(m):
            if 1 <= grid1[i, i]:
                break
            grid1[i,] = x[i]
    return grid1


SIZES = [(5, 3), (3, 3), (0, 0), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g).to(torch.float64)
    x.requires_grad_(seed != 2)
    y = ((torch.randn(2 * m, m, generator=g) * 2).round() / 2).to(torch.float64)[::2]
    return (x, y, n)
