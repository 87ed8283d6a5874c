# precision: double
"""Program 25040246: result[0]: torch.float64 () instead of torch.float32 ()  [seed 3]"""

import torch


def program(x):
    n = len(x)
    m = x.shape[1]
    scaled1 = 1.0
    for i in range(m):
        for j in range(0, n - 1, 3):
            scaled1 *= x[j, i]
            scaled1 *= scaled1
        scaled1 *= (x[:,] > 0).sum()
    return (scaled1,)


SIZES = [(4, 3), (7, 4), (3, 0), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(m, n, generator=g) * 2).round() / 2).to(torch.float64).t()
    return (x,)
