# precision: double
"""Program 14033953: result[3]: requires_grad True instead of False  [seed 0, no_grad]"""

import torch


def program(x, y):
    m = y.shape[1]
    bins1 = (m,)
    for i, row0 in enumerate(bins1):
        for j, row1 in enumerate(x):
            top6 = row1[i].detach()
    return (top6,)


SIZES = [(4, 3), (7, 4), (2, 2), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n, m, generator=g) * 2).round() / 2).to(torch.float64)
    x.requires_grad_(seed != 2)
    y = torch.randn(n, m, generator=g).to(torch.float64)
    return (x, y)
