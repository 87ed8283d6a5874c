"""Program 1101716: aliasing: other objects are the same one  [seed 0]"""

import torch


def program(x, y, cube, near, uneven, numbers, log, n):
    m = cube.shape[1]
    k = cube.shape[2]
    filled1 = [None] * m
    for i in range(m):
        filled1[i] = x[..., i].norm()
    return [filled1[q // 2] for q in range(m)]


SIZES = [(4, 4, 3), (2, 5, 3), (0, 3, 2), (1, 1, 1)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + 1, m, generator=g)[1:]
    y = ((torch.randn(n, generator=g) * 2).round() / 2).to(torch.float64)
    cube = (torch.randn(n, m, k, generator=g) * 2).round() / 2
    cube.requires_grad_(seed != 2)
    near = [
        torch.randint(0, max(n, 1), ((r * 7 + seed) % 4,), generator=g).to(torch.int64).tolist() if n else []
        for r in range(n)
    ]
    uneven = [torch.randn((1 + (r * 5 + seed) % 3), generator=g) for r in range(n)]
    numbers = torch.randn(n, generator=g).to(torch.float64).tolist()
    log = []
    return (
        x,
        y,
        cube,
        near,
        uneven,
        numbers,
        log,
        n,
    )
