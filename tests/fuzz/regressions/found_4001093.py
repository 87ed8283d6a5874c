"""Program 4001093: result: [2, 1, 2, 2] instead of [1, 2, 2, 2]  [seed 0]"""

import torch


def program(sx, n):
    out = []
    for i in range(n):
        out.append(sx[i].roll(1))
    return out


SIZES = [(4, 3), (4, 3), (2, 4), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    sx = torch.randint(1, 5, (n,), generator=g).to(torch.uint8)
    return (sx, n)
