"""Program 14022360: gradient of result -1 by anything: there is none  [seed 0]"""

import torch


def program(x, y, idx, m):
    n = idx.shape[0]
    items1 = []
    grid2 = torch.ones((m, n), dtype=torch.float32)
    state3 = torch.zeros((), dtype=torch.float32)
    for i in range(m):
        for j in range(0, n, 3):
            v4 = y[j]
            items1.append(torch.minimum(v4, grid2[1][j]) if -0.5 <= state3 < 0.5 else v4 * v4)
            state3 = idx[idx[j]]
        grid2[i] += x
    return (items1,)


SIZES = [(4, 3, 2), (3, 3, 3), (0, 3, 2), (3, 0, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    y = (torch.randn(n, generator=g) * 2).round() / 2
    y.requires_grad_(seed != 2)
    idx = torch.randint(0, max(n, 1), (n,), generator=g).to(torch.int64)
    return (x, y, idx, m)
