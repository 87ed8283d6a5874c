"""Program 700899: warning: <fuzzed program 19973.0>:39: batched code and loop gave different results, the loop is kept (the loop raises RuntimeError: max(): Expected reduction dim to be s"""

import torch


def program(x, y, cube):
    n = y.shape[0]
    cells1 = torch.zeros((n,), dtype=torch.float32)
    old2 = torch.ones((n,), dtype=torch.float32)
    for i, row0 in enumerate(y):
        v6 = i
        for left1 in zip(y, cube):
            v7 = y[i - 1 : i].max()
            if (x[i] > 0.5).any():
                v7 = v7 + v6
            for w3 in range(1, n):
                cells1[w3] = cells1[w3]


SIZES = [(6, 2), (2, 5), (1, 4), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 2 * m, generator=g)[:, 1::2]
    y = (torch.randn(n, generator=g) * 2).round() / 2
    cube = torch.randn(n, m, m, generator=g)
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    values_n = torch.randn(2 * n, generator=g)[::2]
    return (x, y, cube)
