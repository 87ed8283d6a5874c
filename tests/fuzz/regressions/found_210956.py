# precision: double
"""Program 210956: aliasing: other objects are the same one  [seed 0]"""

import torch


def program(x):
    n = x.shape[0]
    m = x.shape[1]
    grid1 = torch.zeros((n, m), dtype=torch.float64)
    out2 = torch.zeros((n,), dtype=torch.float64)
    for i, row0 in enumerate(x):
        v3 = out2.sum()
        grid1[i] = row0 if -0.5 < v3 else x[i]
    return (grid1,)


SIZES = [(4, 4, 3), (3, 3, 3), (3, 0, 2), (2, 2, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g).to(torch.float64)
    return (x,)
