# precision: double
"""Program 40337: result[1]: np.float64(-8.743939286620229) instead of np.float64(13.781075942383909) at ()  [seed 0]"""

import torch


def program(x, m):
    n = x.shape[0]
    a1, b2 = (0.0, 1)
    for i in range(n):
        v3 = 0.25
        for j in range(m):
            v4 = v3
            a1, b2 = (b2, a1 + v4)
        a1, b2 = (b2, a1)
    return (b2,)


SIZES = [(3, 4, 2), (2, 5, 3), (2, 1, 1), (1, 4, 0)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g).to(torch.float64)
    return (x, m)
