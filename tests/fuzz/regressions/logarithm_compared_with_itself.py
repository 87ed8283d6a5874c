"""Program 25045039: warning: <fuzzed program 23310.39>:9: batched code and loop gave different results, the loop is kept (the loop raises ValueError: math domain error)"""

import math

import torch


def program(x, y, m):
    n = x.shape[0]
    out1 = torch.zeros((n,), dtype=torch.float32)
    out2 = x.clone()
    for i in range(n):
        for j in range(m):
            q4 = math.log(j)
            v6 = q4
            if v6 == v6:
                pass
            out1[i] = out2[0:2].max()
            out2[i] += torch.dot(y, y)


SIZES = [(5, 3, 2), (3, 3, 3), (3, 0, 2), (3, 0, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = (torch.randn(n, generator=g) * 2).round() / 2
    y = torch.randn(m, generator=g)
    y.requires_grad_(seed != 2)
    return (x, y, m)
