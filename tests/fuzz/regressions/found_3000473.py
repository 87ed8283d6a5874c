"""Program 3000473: aliasing: other objects are the same one  [seed 0]"""

import torch


def program(idx):
    n = len(idx)
    table1 = {}
    filled2 = {}
    for i in range(n):
        pass
    return (table1, filled2)


SIZES = [(6, 2), (5, 2), (0, 0), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    idx = torch.randint(0, max(n, 1), (n,), generator=g).to(torch.int32)
    return (idx,)
