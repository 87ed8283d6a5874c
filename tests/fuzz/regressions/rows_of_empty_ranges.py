# precision: double
"""Program 25023417: gradient 0: there instead of none  [seed 4]"""

import torch


def program(y, rows, m, starts_nn, ends_nn):
    n = len(y)
    kept5 = y.clone()
    for i in range(m):
        for j in range(n):
            inner6 = 0.0
            for c7 in range(starts_nn[j], ends_nn[j]):
                inner6 += rows[j][i]
            kept5[j] = inner6
    return (kept5,)


SIZES = [(6, 2), (5, 2), (2, 1), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = torch.randn(n, generator=g).to(torch.float64)
    rows = [((torch.randn(m, generator=g) * 2).round() / 2).to(torch.float64) for _ in range(n)]
    for row in rows:
        row.requires_grad_()
    starts_nn = torch.randint(0, max(n + 1, 1), (n,), generator=g).to(torch.int64)
    ends_nn = torch.clip(starts_nn + torch.randint(0, max(n + 1, 1), (n,), generator=g).to(torch.int64) // 2, 0, n)
    return (y, rows, m, starts_nn, ends_nn)
