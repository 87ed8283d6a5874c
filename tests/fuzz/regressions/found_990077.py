"""Program 990077: result[2]: requires_grad True instead of False  [seed 0]"""

import torch


def program(y):
    m = y.shape[0]
    items3 = []
    for left1 in y:
        items3.append(sum([y[1] for z in range(m) if y[z] < 3]))
    return (torch.tensor(items3),)


SIZES = [(4, 4), (2, 5), (0, 0), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = torch.randn(m, generator=g)
    y.requires_grad_(seed != 2)
    return (y,)
