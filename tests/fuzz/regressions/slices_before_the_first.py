# precision: double
"""Program 100010772: result: np.float64(1.5409960746765137) instead of np.float64(1.5) at (0,)  [seed 0]"""

import torch


def program(x, m):
    scaled3 = x
    for i in range(m):
        part1 = slice(i - 1, i)
        scaled3[part1] = 1.5
    return scaled3


SIZES = [(3, 4), (2, 5), (1, 3), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g).to(torch.float64)
    return (x, m)
