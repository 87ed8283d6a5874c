# precision: double
"""A place that is -0.0 was taken as 0."""

import torch


def program(x, y, cube, near):
    k = cube.shape[-0.0]
    kept5 = torch.zeros_like(x)
    for i, row0 in enumerate(y):
        for j in range(k):
            pass
            kept5[i] = 0


SIZES = [(6, 2, 3), (5, 2, 1), (2, 2, 2), (3, 0, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g).to(torch.float64)
    y = ((torch.randn(n, generator=g) * 2).round() / 2).to(torch.float64)
    cube = torch.randn(1, m, k, generator=g).to(torch.float64).expand(n, m, k)
    near = [
        torch.randint(0, max(n, 1), ((r * 7 + seed) % 4,), generator=g).to(torch.int64).tolist() if n else []
        for r in range(n)
    ]
    return (x, y, cube, near)
