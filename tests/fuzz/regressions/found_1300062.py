"""Program 1300062: result[0]: requires_grad False instead of True  [seed 0, no_grad]"""

import torch


def program(x, cube):
    n = cube.shape[0]
    m = cube.shape[1]
    top1 = 0
    for i in range(n):
        for j in range(m):
            top1 = max(min(cube[i, j, j % m], x[i, j]), top1)
    return (top1,)


SIZES = [(4, 3), (7, 4), (0, 0), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g)
    x.requires_grad_(seed != 2)
    cube = (torch.randn(n, m, m, generator=g) * 2).round() / 2
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    return (x, cube)
