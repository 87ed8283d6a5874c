"""Program 220409: warning: <fuzzed program 6399.159>:10: batched code and loop gave different results, the loop is kept (values['result'][1][0]: an object of its own instead of one that i"""

import torch


def program(x):
    m = x.shape[1]
    hidden2 = torch.zeros((m,), dtype=torch.float32)
    items3 = []
    for i in range(m):
        items3.append(hidden2)
    return (items3,)


SIZES = [(4, 4), (3, 3), (1, 1), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g)
    return (x,)
