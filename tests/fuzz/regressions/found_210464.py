# precision: double
"""Program 210464: warning: <fuzzed program 30721.214>:9: batched code and loop gave different results, the loop is kept (values['result'][1]: dtype torch.float64 instead of torch.float32)"""

import torch


def program(x, y):
    scaled2 = 1.0
    for j, row1 in enumerate(x):
        if x[j] >= 1:
            scaled2 = scaled2 * x.var(unbiased=False)
        v4 = y
        scaled2 *= v4.mean()
    return (scaled2,)


SIZES = [(3, 4), (3, 3), (1, 4), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g).to(torch.float64)
    y = torch.randn(m, generator=g)
    return (x, y)
