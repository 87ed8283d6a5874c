# precision: double
"""Program 409277: aliasing: other objects are the same one  [seed 0]"""

import torch


def program(x):
    m = x.shape[0]
    outer1 = []
    for row0 in x:
        top3 = row0.mean()
    v6 = abs(top3)
    v8 = v6
    row2 = []
    for e9 in range(m):
        row2.append(min(v8, v8))
    outer1.append(row2)
    return (outer1,)


SIZES = [(5, 3), (5, 2), (1, 3), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g).to(torch.float64)
    return (x,)
