"""Program 230416: result[1]: requires_grad True instead of False  [seed 0]"""

import torch


def program(twin, scale):
    a1, b2 = (0.0, 1)
    a1, b2 = (a1, scale)
    for row0 in twin:
        a1, b2 = (1, a1 * row0)
    return (b2,)


SIZES = [(3, 4, 2), (3, 3, 3), (1, 3, 2), (3, 0, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    base = torch.randn(m + 1, generator=g)
    y = base[:-1]
    twin = y
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    scale.requires_grad_()
    return (twin, scale)
