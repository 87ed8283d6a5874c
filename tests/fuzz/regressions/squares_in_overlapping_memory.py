"""Program 25040494: result[2]: np.float32(0.03832115) instead of np.float32(0.023809593) at (0, 2)  [seed 1]"""

import torch


def program(x):
    n = len(x)
    m = x.shape[1]
    for i, row0 in enumerate(x):
        for j in range(0, m, 3):
            v4 = max(sum((row0[j] for z in range(n) if x[i][j] != 1.0)), 0.0)
    for i in range(1, m - 1):
        x[j, i] *= x[j, i]
    return (x,)


SIZES = [(6, 2), (3, 3), (1, 4), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + m, generator=g).as_strided((n, m), (1, 1))
    return (x,)
