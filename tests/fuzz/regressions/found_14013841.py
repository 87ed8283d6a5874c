"""Program 14013841: gradient 0: none instead of there  [seed 3]"""

import torch


def program(y, scale):
    for row0 in y:
        total1 = torch.where(scale < 2, scale, torch.dot(row0, row0))
    return total1


SIZES = [(4, 3), (5, 2), (2, 2), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = torch.randn(2 * n, m, generator=g)[::2]
    y.requires_grad_(seed != 2)
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    scale.requires_grad_()
    return (y, scale)
