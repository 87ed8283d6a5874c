"""Program 701015: result: requires_grad True instead of False  [seed 3]"""

import torch


def program(x, scale):
    n = x.shape[1]
    m = len(x)
    state1 = 0.0
    for i in range(n):
        for j in range(m):
            state1 = torch.where(x[j, i] >= 2.0, j, scale) * state1 + min(i, x[m - 1, n - 1])
    return state1


SIZES = [(4, 4), (3, 3), (3, 0), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g)
    x.requires_grad_(seed != 2)
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    return (x, scale)
