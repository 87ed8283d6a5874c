"""Program 6002539: gradient 0: there instead of none  [seed 3]"""

import torch


def program(x, y):
    n = len(x)
    state1 = 0
    for i in range(n):
        state1 = state1 * min(x[i], y[i])
    return state1


SIZES = [(4, 3), (7, 4), (2, 1), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(2 * n, generator=g) * 2).round() / 2)[::2]
    x.requires_grad_(seed != 2)
    y = torch.randn(n, generator=g)
    y.requires_grad_(seed != 2)
    return (x, y)
