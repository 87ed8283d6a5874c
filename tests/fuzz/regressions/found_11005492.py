# precision: double
"""Program 11005492: result[1]: 0 instead of 1  [seed 1]"""

import torch


def program(x, cube):
    k = cube.shape[2]
    best1 = float("-inf")
    for i in range(k):
        for j in range(i):
            number4 = float(x.var(unbiased=False))
            c6 = sum([j for w in range(k) if w < j]) * number4
            if c6 >= best1:
                place2 = j
            c7 = number4
            best1 = c7
    return (place2,)


SIZES = [(3, 4, 2), (3, 3, 3), (2, 2, 2), (0, 0, 1)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g).to(torch.float64)
    cube = torch.randn(n, m, k, generator=g).to(torch.float64)
    return (x, cube)
