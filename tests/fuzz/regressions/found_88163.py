# precision: double
"""Program 88163: result[0][1]: Tensor tensor(16) instead of int 16  [seed 0]"""

import torch


def program(y, cube, twin):
    n = cube.shape[0]
    m = cube.shape[1]
    a1, b2 = (1, 1)
    grid3 = (m,)
    for i, row0 in enumerate(twin):
        v5 = y[i]
        a1, b2 = (a1, v5)
    for i in range(n):
        a1, b2 = (1, a1)
    return ((b2,),)


SIZES = [(4, 4), (3, 3), (2, 2), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(m, n, generator=g) * 2).round() / 2).to(torch.float64)
    base = torch.randn(m + 1, generator=g).to(torch.float64)
    y = base[:-1]
    cube = ((torch.randn(n, m, m, generator=g) * 2).round() / 2).to(torch.float64)
    twin = base[1:]
    return (y, cube, twin)
