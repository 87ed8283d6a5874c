# precision: double
"""Program 80427: result[2]: requires_grad False instead of True  [seed 0]"""

import torch


def program(x, y, idx):
    n = len(x)
    m = len(y)
    grid3 = torch.ones((m, n), dtype=torch.float64)
    for i in idx:
        for j in range(1, m):
            v4 = grid3[j,]
            grid3[j, i] += x[i, j] // 2
    return (grid3,)


SIZES = [(5, 3), (2, 5), (1, 3), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1, m, generator=g).to(torch.float64).expand(n, m)
    x.requires_grad_(seed != 2)
    y = torch.randn(m, generator=g).to(torch.float64)
    idx = torch.randint(0, max(n, 1), (n,), generator=g).to(torch.int64).tolist()
    return (x, y, idx)
