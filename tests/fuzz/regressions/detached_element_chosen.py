"""A view of an element made by detach is an element still where Python's min chooses it."""
# precision: double

import numpy as np
import torch


def program(x, cube, near):
    n = cube.shape[0]
    m = cube.shape[1]
    kept3 = []
    top4 = 0
    for i, ii in np.ndindex(n, m):
        v5 = x[i] ** 2 // torch.minimum(cube[i // 2, ii, ii], x[i])
        v5 += 1
        for j in near[i]:
            top4 = min(cube[-i - 1, ii, max(j - 1, 0)].detach(), top4)
            z1 = x[i]
            steps2 = 0
            kept3.append(steps2)
    return (kept3, top4)


SIZES = [(6, 2), (3, 3), (2, 2), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g).to(torch.float64)
    x.requires_grad_(seed != 2)
    cube = torch.randn(n, m, m, generator=g).to(torch.float64)
    cube.requires_grad_(seed != 2)
    near = [
        torch.randint(0, max(m, 1), ((r * 7 + seed) % 4,), generator=g).to(torch.int64).tolist() if m else []
        for r in range(n)
    ]
    return (x, cube, near)
