# precision: double
"""Program 809007: exception: IndexError('index 3 is out of bounds for dimension 1 with size 2') instead of IndexError('index 4 is out of bounds for dimension 1 with size 2')  [seed 1]"""

import torch


def program(x, y, cube, near):
    k = cube.shape[2]
    kept5 = torch.zeros_like(x)
    for i, row0 in enumerate(y):
        for j in range(k):
            if y[i] != x[i]:
                mine3 = []
                for e4 in near[i]:
                    mine3.append(y[i] if row0 == cube[i, e4] else row0)
                if len(mine3) > 1:
                    kept5[i] = torch.stack(mine3)
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
