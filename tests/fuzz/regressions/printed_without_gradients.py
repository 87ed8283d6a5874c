"""Program 9885: printed: 'at 1 0 tensor(0.)\\nat 1 1 tensor(-0.5000)\\nat 1 2 tensor(-0.5000)\\nat 1 3 tenso instead of 'at 1 0 tensor(0., requires_grad=True)\\nat 1 1 tensor(-0.5000, requires_grad=Tru  [seed 0, no_grad]"""

import torch


def program(x, y):
    n = x.shape[0]
    m = x.shape[1]
    for i in range(1, m):
        for j in range(n):
            print("at", i, j, y[j - 1])


SIZES = [(4, 4), (3, 3), (2, 1), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g)
    y = (torch.randn(n, generator=g) * 2).round() / 2
    y.requires_grad_(seed != 2)
    return (x, y)
