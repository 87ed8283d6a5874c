"""Program 220087: gradient: raised RuntimeError('one of the variables needed for gradient computation has been modified by an inplace operation: [torch.Flo  [seed 1]"""

import torch


def program(x, y):
    n = y.shape[0]
    out1 = torch.zeros((n,), dtype=torch.float32)
    out3 = x
    for i, row0 in enumerate(out1):
        for j in range(1, -1, -1):
            out1[i] += y[i, j] if -1 <= x[i] else out1[i] * out3[-i]
        out3[i] = out1[i]


SIZES = [(4, 4), (2, 5), (2, 1), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1, generator=g).expand(n)
    y = torch.randn(n, m, generator=g)
    y.requires_grad_(seed != 2)
    return (x, y)
