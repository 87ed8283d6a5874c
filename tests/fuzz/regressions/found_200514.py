"""Program 200514: gradient: raised RuntimeError('one of the variables needed for gradient computation has been modified by an inplace operation: [torch.Flo  [seed 0]"""

import torch


def program(x, y, steps):
    n = steps.shape[0]
    m = y.shape[1]
    grid2 = torch.full((n, m), 2, dtype=torch.float32)
    for i in range(1, m):
        grid2[:, i] *= x
    return (grid2,)


SIZES = [(5, 3), (7, 4), (0, 0), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    x.requires_grad_(seed != 2)
    y = (torch.randn(n, m, generator=g) * 2).round() / 2
    steps = torch.randint(0, max(5, 1), (n,), generator=g).to(torch.int64)
    return (x, y, steps)
