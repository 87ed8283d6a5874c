"""Program 220940: gradient: raised RuntimeError('one of the variables needed for gradient computation has been modified by an inplace operation: [torch.Flo  [seed 0]"""

import torch


def program(x):
    n = x.shape[0]
    out1 = torch.zeros((n,))
    out2 = torch.zeros((n,), dtype=torch.float32)
    for row0 in out1:
        pass
    for left0, right0 in zip(x, x):
        for j, row1 in enumerate(x):
            if (x > 2).any():
                out2[j] += right0 > 1
            for l, row2 in enumerate(out2):
                out1[j] = (out1 * j * out2).sum()
                out1[l] = ((x if j > 0 and x[j - 1] == x[j] else x) * x).sum()
    return (out1,)


SIZES = [(5, 3), (5, 2), (1, 1), (0, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1, generator=g).expand(n)
    x.requires_grad_(seed != 2)
    return (x,)
