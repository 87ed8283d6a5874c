"""Program 16002463: arguments[0]: requires_grad True instead of False  [seed 0]"""

import torch


def program(x, y, scale):
    n = x.shape[0]
    m = y.shape[0]
    for i in range(n):
        for j in range(m):
            x[i, j] = scale.detach()


SIZES = [(4, 3), (7, 4), (2, 2), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g).t()
    y = torch.randn(m, generator=g)
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    scale.requires_grad_()
    return (x, y, scale)
