# precision: double
"""What is an array or a new one, as an 'if' decides, changes with the array while inner iterations write to it."""

import numpy as np
import torch


def program(x, y, idx, numbers, n):
    m = len(x)
    kept2 = (n,)
    out3 = torch.zeros((n,), dtype=torch.float64)
    for i in range(n - 1, 1, -1):
        v7 = out3 if out3[i] >= -1.0 else out3 + out3
        for j, jj in np.ndindex(n, m):
            out3[i * 2 % n] = abs(v7[j].item()) - torch.max(x[:, i], 0).values
        either1 = 0.0
    return (out3,)


SIZES = [(3, 4), (5, 2), (0, 0), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(m, n, generator=g) * 2).round() / 2).to(torch.float64)
    y = torch.randn(m + 1, generator=g).to(torch.float64)[1:]
    idx = torch.randint(0, max(m, 1), (n,), generator=g).to(torch.int64).tolist()
    numbers = ((torch.randn(m, generator=g) * 2).round() / 2).to(torch.float64).tolist()
    return (x, y, idx, numbers, n)
