# precision: double
"""Program 5551277: result: requires_grad True instead of False  [seed 4]"""

import torch


def program(x, y, mask, k):
    n = x.shape[1]
    m = x.shape[0]
    grid1 = torch.zeros((n, n), dtype=torch.float64)
    for i in range(0, n - 1, 3):
        v2 = torch.maximum(y[i] - y[i], y[i])
        for j, row1 in enumerate(grid1):
            for l in range(0, m, 2):
                v3 = row1[i]
                v4 = x[l]
                grid1[i, i] += min(y[i] - row1[j], v4[i])
            grid1[j, i] += float(y[(i + 1) % n])
    return grid1


SIZES = [(6, 2, 3), (7, 4, 2), (1, 4, 0), (1, 1, 1)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g).to(torch.float64).t()
    y = torch.randn(n, generator=g).to(torch.float64)
    y.requires_grad_(seed != 2)
    mask = torch.randint(0, max(2, 1), (n,), generator=g).to(torch.int64).bool()
    return (
        x,
        y,
        mask,
        k,
    )
