"""Program 250887: gradient: raised RuntimeError('one of the variables needed for gradient computation has been modified by an inplace operation: [torch.Flo  [seed 0]"""

import torch


def program(y):
    m = y.shape[0]
    out2 = torch.full((m,), 0.5, dtype=torch.float32)
    for j in range(0, m, 3):
        if (y[j,] > 2).all():
            continue
        out2[j] *= y[j, j]
    return (out2,)


SIZES = [(3, 4), (2, 5), (3, 0), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = torch.randn(m + 1, m, generator=g).to(torch.float64)[1:]
    y.requires_grad_(seed != 2)
    return (y,)
