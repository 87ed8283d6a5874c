"""Program 210629: warning: <fuzzed program 31264.129>:12: batched code and loop gave different results, the loop is kept (values['grid2']: 2 of 12 elements differ, the first at (1, 0): 2."""

import torch


def program(x, cube):
    n = x.shape[0]
    m = cube.shape[1]
    out1 = torch.ones((m,), dtype=torch.float32)
    grid2 = torch.zeros((m, n), dtype=torch.float32)
    for i in range(m - 2, 1, -1):
        for j in range(i, 1, -1):
            grid2[i] = cube[:, j] @ out1 - x


SIZES = [(3, 4), (3, 3), (0, 3), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    cube = (torch.randn(n, m, m, generator=g) * 2).round() / 2
    return (x, cube)
