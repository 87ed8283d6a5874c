"""Program 250964: warning: <fuzzed program 21209.0>:10: batched code and loop gave different results, the loop is kept (values['result']: 3 of 3 elements differ, the first at 0: 1.1604614"""

import torch


def program(y, cube, near):
    n = y.shape[0]
    m = cube.shape[1]
    sums1 = torch.zeros((m,), dtype=torch.float64)
    for i in range(1, n):
        v2 = y[i]
        for j in near[i]:
            v3 = v2.min()
            sums1 += 1
            sums1 = sums1 * 0.5


SIZES = [(5, 3), (3, 3), (3, 0), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = ((torch.randn(n, m, generator=g) * 2).round() / 2).to(torch.float16)
    cube = torch.randn(2 * n, m, m, generator=g).to(torch.float16)[::2]
    near = [
        torch.randint(0, max(n, 1), ((r * 7 + seed) % 4,), generator=g).to(torch.int64).tolist() if n else []
        for r in range(n)
    ]
    return (y, cube, near)
