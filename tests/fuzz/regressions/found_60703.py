# precision: double
"""Program 60703: result[1]: np.float64(2.0) instead of np.float64(0.72) at (0,)  [seed 0]"""

import torch


def program(x):
    n = len(x)
    out1 = (n,)
    out2 = torch.full((n,), 2, dtype=torch.float64)
    for left0, right0 in zip(out2, out1):
        level4 = left0
        while level4 > 0.1:
            level4 *= 0.6
    return (out2,)


SIZES = [(4, 4), (5, 2), (1, 4), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g).to(torch.float64)
    return (x,)
