"""Program 20009619: warning: <fuzzed program 29686.119>:8: batched code and loop gave different results, the loop is kept (values['result'][0]: requires_grad True instead of False)"""

import torch


def program(x, scale):
    n = x.shape[0]
    rows1 = []
    for i in range(n):
        rows1 += [x[i] * x[i], scale - x[i]]
    return rows1


SIZES = [(4, 3), (3, 3), (1, 3), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    scale.requires_grad_()
    return (x, scale)
