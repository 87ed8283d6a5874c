# precision: double
"""Program 251304: warning: <fuzzed program 21294.0>:11: batched code and loop gave different results, the loop is kept (values['result']: 5.919732904434204 instead of 4.835210537910461)"""

import torch


def program(x, y):
    n = len(x)
    total1 = 0.0
    for j in range(n):
        for l in y:
            v2 = x[j]
            total1 -= x[n - 1]
            total1 = total1 if -0.5 <= x[j] else v2 + 1


SIZES = [(3, 4), (5, 2), (0, 0), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    base = ((torch.randn(n + 1, generator=g) * 2).round() / 2).to(torch.float64)
    x = base[:-1]
    y = torch.randn(m, generator=g).to(torch.float64)
    y.requires_grad_(seed != 2)
    return (x, y)
