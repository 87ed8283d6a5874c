"""The last of the items that iterations appended under a condition: what it is made of is not what others are."""

import torch


def program(y, cube):
    m = cube.shape[1]
    kept = 0.0
    for j, row in enumerate(cube):
        mine = []
        for e in range(m):
            if y[j] >= 0:
                mine.append(row[e, e] if e <= y[j] else y[j])
        if len(mine) > 1:
            kept += mine[-1]
    return (kept,)


SIZES = [(4, 3), (2, 5), (0, 0), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = torch.randn(n, generator=g) * (1 + seed % 3)
    cube = torch.randn(n, m, m, generator=g)
    cube.requires_grad_(seed != 2)
    return y, cube
