# precision: double
"""Program 7623: printed: '0\\n   1.745|\\n0\\n   1.745|\\n  -5.144|\\n1\\n   1.745|\\n1\\n  -1.745|\\n   1.745|\\n2 instead of '0\\n   1.745|\\n0\\n   1.745|\\n  -5.144|\\n1\\n   1.745|\\n1\\n  -1.745|\\n   1.745|\\n2  [seed 1]"""

import torch


def program(x, idx, k):
    n = idx.shape[0]
    m = x.shape[1]
    for i in range(n):
        for j in range(m):
            v3 = sum((x[i][j] for p in range(k)))
            print(f"{v3:8.3f}|")


SIZES = [(4, 3, 2), (3, 3, 3), (2, 2, 2), (2, 1, 1)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(m, n, generator=g) * 2).round() / 2).to(torch.float64).t()
    idx = torch.randint(0, max(n, 1), (n,), generator=g).to(torch.int32)
    return (x, idx, k)
