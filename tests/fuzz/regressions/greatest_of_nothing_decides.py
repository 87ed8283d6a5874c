"""The greatest of no numbers decides between two sides on which nothing is left: the loop raises."""

import torch


def program(x, y):
    n = x.shape[0]
    for i in range(n):
        v3 = y[:,].max()
        if v3 >= 0.0:
            pass
    pass
    pass


SIZES = [(5, 3, 2), (7, 4, 2), (3, 0, 2), (0, 3, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g).to(torch.float64)
    y = torch.randn(n, m, generator=g).to(torch.float64)
    return (x, y)
