"""Program 14001791: result[0]: np.float32(0.9586077) instead of np.float32(2.0021682) at (0, 0)  [seed 0]"""

import torch


def program(x, y, cube):
    n = x.shape[0]
    grid1 = torch.ones_like(x)
    out2 = torch.zeros((n,), dtype=torch.float32)
    for i, row0 in enumerate(y):
        for j in range(n):
            out2[j] = cube[i].median()
        grid1[:, i] = out2
    return (grid1,)


SIZES = [(4, 3), (3, 3), (2, 2), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(1, m, generator=g) * 2).round() / 2).expand(n, m)
    y = torch.randn(m, generator=g)
    cube = torch.randn(n, m, m, generator=g)
    return (x, y, cube)
