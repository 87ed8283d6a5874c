# precision: double
"""Program 30471: result[0]: np.float64(4.207354924039483) instead of np.float64(-4.999876517422662) at (0,)  [seed 0]"""

import torch


def program(x, y, idx, m):
    n = y.shape[0]
    out1 = torch.ones((m,), dtype=torch.float64)
    for i in range(m):
        v3 = out1[i]
        for j in range(1, n):
            v4 = x[:,]
            v5 = torch.where(v4[idx[j]] <= 0.1, v4[idx[j]], v3)
            out1[i] = sum((v3 for w in range(n)))
            total2 = v5
    return (total2,)


SIZES = [(5, 3), (5, 2), (3, 0), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g).to(torch.float64)
    y = torch.randn(n, generator=g).to(torch.float64)
    idx = torch.randint(0, max(n, 1), (n,), generator=g).to(torch.int64).tolist()
    return (x, y, idx, m)
