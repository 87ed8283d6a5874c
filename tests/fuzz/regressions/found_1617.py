"""Program 1617: gradient 0: there instead of none  [seed 0]"""

import torch


def program(x, y):
    m = y.shape[0]
    scaled1 = 1.0
    for i in range(m):
        for left1, right1 in zip(y, x):
            v2 = left1[i] * right1.item()
            scaled1 *= v2
    return scaled1


SIZES = [(3, 4), (5, 2), (1, 1), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(1, generator=g) * 2).round() / 2).expand(n)
    x.requires_grad_(seed != 2)
    y = torch.randn(m, 2 * m, generator=g)[:, 1::2]
    y.requires_grad_(seed != 2)
    return (x, y)
