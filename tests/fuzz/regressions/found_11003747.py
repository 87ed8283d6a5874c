"""Program 11003747: printed: 'at 1 0 tensor(7.5000, dtype=torch.bfloat16)\\nat 1 1 tensor(1.5000, dtype=torch. instead of 'at 1 0 tensor(1., dtype=torch.bfloat16)\\nat 1 1 tensor(1., dtype=torch.bfloat16  [seed 0]"""

import torch


def program(x, y):
    n = x.shape[0]
    out2 = torch.ones((n,), dtype=torch.bfloat16)
    for i in range(1, n):
        for j, left1, right1 in zip(range(n), out2, y):
            print("at", i, j, left1)
            out2[j] = x[j]


SIZES = [(6, 2), (7, 4), (3, 0), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n, generator=g) * 2).round() / 2).to(torch.bfloat16)
    y = torch.randn(n, m, generator=g).to(torch.bfloat16)
    return (x, y)
