"""Program 14011650: gradient 3: there instead of none  [seed 0]"""

import torch


def program(cube, idx, rows):
    n = idx.shape[0]
    m = cube.shape[1]
    wave1 = torch.zeros((n, m))
    for i in range(n):
        if i > 0:
            wave1[i % n] = wave1[i] + rows[i]
    return wave1


SIZES = [(4, 4), (3, 3), (0, 3), (0, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    cube = torch.randn(n, m, m, generator=g)
    idx = torch.randint(0, max(n, 1), (n,), generator=g).to(torch.int64)
    rows = [torch.randn(m, generator=g) for _ in range(n)]
    for row in rows:
        row.requires_grad_()
    return (cube, idx, rows)
