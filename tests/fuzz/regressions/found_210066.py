"""Program 210066: result[1]: torch.float32 (3, 3) instead of torch.float32 (3, 1)  [seed 3]"""

import torch


def program(x, y):
    n = y.shape[0]
    m = x.shape[1]
    grid2 = torch.zeros((m, n))
    for i in range(n):
        grid2[:, i] *= grid2[:, i]
    return (grid2,)


SIZES = [(4, 3), (7, 4), (1, 1), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g).t()
    y = torch.randn(n, generator=g)
    return (x, y)
