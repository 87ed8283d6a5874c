# precision: double
"""Program 3001135: aliasing: other objects are the same one  [seed 0]"""

import torch


def program(n):
    grid1 = torch.full((n,), 1.0, dtype=torch.float64)
    filled2 = {}
    table3 = {}
    for row0 in grid1:
        pass
    return (filled2, table3)


SIZES = [(5, 3), (3, 3), (2, 2), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    return (n,)
