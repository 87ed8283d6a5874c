# precision: double
"""Program 1106: result[0]: Tensor tensor(3) instead of int 3  [seed 0]"""

import torch


def program(cube, scale):
    m = cube.shape[1]
    count1 = 0
    for i in range(m):
        if 0 < scale:
            count1 += 1
    return (count1,)


SIZES = [(6, 2, 3), (3, 3, 3), (2, 2, 2), (1, 4, 0)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    cube = ((torch.randn(n, m, k, generator=g) * 2).round() / 2).to(torch.float64)
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float64)
    return (cube, scale)
