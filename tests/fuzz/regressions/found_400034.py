"""Program 400034: warning: <fuzzed program 5759.34>:15: batched code and loop gave different results, the loop is kept (values['result']: 2 of 2 elements differ, the first at 0: -66.52935"""

import torch


def program(x, y):
    n = x.shape[0]
    m = x.shape[1]
    sums1 = torch.zeros((m,))
    for i in range(n):
        v2 = x[i] if i <= 2 else sums1
        sums1 += y
        sums1 = sums1 + v2
    return sums1


SIZES = [(6, 2), (2, 5), (2, 2), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + 1, m, generator=g)[1:]
    y = torch.randn(m, generator=g)
    return (x, y)
