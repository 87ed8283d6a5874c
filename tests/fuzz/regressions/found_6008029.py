"""Program 6008029: gradient 0: there instead of none  [seed 3]"""

import torch


def program(x, y, idx):
    n = len(idx)
    m = x.shape[0]
    grid1 = torch.zeros((n, m), dtype=torch.float32)
    for i in range(m):
        for j in range(n):
            grid1[j, i] = min(x[i, j], y[j])
    return grid1


SIZES = [(3, 4), (2, 5), (1, 4), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g)
    x.requires_grad_(seed != 2)
    y = torch.randn(2 * n, generator=g)[::2]
    y.requires_grad_(seed != 2)
    idx = torch.randint(0, max(n, 1), (n,), generator=g).to(torch.int64)
    return (
        x,
        y,
        idx,
    )
