# precision: double
"""Program 900255: result[1]: np.float64(0.8713173270225525) instead of np.float64(0.516924113035202) at (0, 2)  [seed 1]"""

import torch


def program(x, n):
    m = x.shape[0]
    grid2 = torch.zeros((m, n), dtype=torch.float64)
    for i in range(n):
        for j in range(i, 1, -1):
            v4 = x[:, min(j, n - 1)]
            grid2[:, i] = torch.maximum(grid2[:, i], (v4 + 0.25)[0])
    return (grid2,)


SIZES = [(3, 4, 2), (5, 2, 1), (1, 3, 2), (0, 3, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g).to(torch.float64)
    return (x, n)
