"""Program 1081: generator: that of torch was left in another state  [seed 0]"""

import torch


def program(x):
    m = x.shape[1]
    for j in range(1, m):
        noise3 = torch.rand(2)


SIZES = [(4, 3), (3, 3), (0, 3), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = (torch.randn(n, m, generator=g) * 2).round() / 2
    return (x,)
