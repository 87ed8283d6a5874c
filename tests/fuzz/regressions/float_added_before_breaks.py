"""An integer that floats are added to stays one where the inner loops are left before they add anything."""

import torch


def program(cube, mask, scale):
    n = mask.shape[0]
    k = cube.shape[2]
    total5 = 1.0
    total6 = 0
    for i in range(k):
        for j in range(n):
            if scale == total5 or j == 0:
                break
            total6 += total5
    return (total6,)


SIZES = [(6, 2, 3), (2, 5, 3), (1, 4, 0), (1, 1, 1)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    cube = torch.randn(n, m, k, generator=g)
    mask = torch.randint(0, max(2, 1), (n,), generator=g).to(torch.int64).bool()
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    scale.requires_grad_()
    return (cube, mask, scale)
