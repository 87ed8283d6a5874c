# precision: double
"""Program 79: arguments[0]: np.float64(-1.605276346206665) instead of np.float64(1.218870786344623) at (0,)  [seed 4]"""

import torch


def program(x, y):
    total1 = 0
    for i, row0 in enumerate(x, start=1):
        total1 += torch.dot(x, y)
        total1 = min(row0, row0)
    for i, row0 in enumerate(y, start=1):
        pass


SIZES = [(6, 2), (2, 5), (2, 1), (0, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g).to(torch.float64)
    y = torch.randn(n, generator=g).to(torch.float64)
    return (x, y)
