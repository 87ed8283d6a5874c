# precision: double
"""Program 9640: result: np.float64(0.6213173270225525) instead of np.float64(0.06167725846171379) at (0,)  [seed 1]"""

import numpy as np
import torch


def program(x, y, cube, mask):
    n = mask.shape[0]
    m = y.shape[1]
    out1 = torch.zeros((n,), dtype=torch.float64)
    for i, ii in np.ndindex(n, m):
        level5 = cube[i, ii].prod()
        while level5 > 0.1:
            level5 = 0.25 * level5
            out1[i] = x[i, ii]
    return out1


SIZES = [(5, 3, 2), (3, 3, 3), (3, 0, 2), (0, 0, 1)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + m, generator=g).to(torch.float64).as_strided((n, m), (1, 1))
    y = ((torch.randn(n, m, generator=g) * 2).round() / 2).to(torch.float64)
    cube = torch.randn(n, m, k, generator=g).to(torch.float64)
    mask = torch.randint(0, max(2, 1), (n,), generator=g).to(torch.int64).bool()
    return (x, y, cube, mask)
