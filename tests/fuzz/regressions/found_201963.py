# precision: double
"""Program 201963: result: requires_grad False instead of True  [seed 0]"""

import torch


def program(x, idx):
    n = x.shape[0]
    m = x.shape[1]
    for i in range(m):
        for j in range(0, n, 3):
            v2 = x[:, idx[j]]
            v3 = x[j]
            v4 = v3
            state1 = v2[j] - v4[i]
    for i in range(m):
        v5 = state1
        state1 = abs(v5)
    return state1


SIZES = [(4, 3), (7, 4), (1, 3), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n, m, generator=g) * 2).round() / 2).to(torch.float64)
    x.requires_grad_(seed != 2)
    idx = torch.randint(0, max(min(m, 2), 1), (n,), generator=g).to(torch.int32)
    return (x, idx)
