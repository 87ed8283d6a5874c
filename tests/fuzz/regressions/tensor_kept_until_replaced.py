"""Program 25040524: warning: <fuzzed program 4005.24>:8: batched code and loop gave different results, the loop is kept (values['result'][1][1]: an object of its own instead of one that is"""

import torch


def program(x, y, m):
    n = len(y)
    run1 = torch.ones((m,), dtype=torch.float32)
    trace2 = []
    for i in range(n):
        if 0.5 <= y[i]:
            run1 = torch.minimum(x[i], x[i])
        trace2.append(run1)
    return (trace2, i)


SIZES = [(6, 2), (2, 5), (1, 4), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g)
    y = torch.randn(n + 1, generator=g)[1:]
    return (x, y, m)
