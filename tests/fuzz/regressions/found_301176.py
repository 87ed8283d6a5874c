"""Program 301176: aliasing: other objects are the same one  [seed 0]"""

import itertools

import torch


def program(x, y, scale):
    m = len(x)
    out2 = y.clone()
    for i, ii in itertools.product(range(m), range(m)):
        v5 = out2
        c6 = scale
        best3 = c6
        out2[i] = v5[ii]
    return (best3,)


SIZES = [(4, 3), (7, 4), (1, 4), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(2 * m, n, generator=g)[::2]
    y = torch.randn(m, generator=g)
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    return (x, y, scale)
