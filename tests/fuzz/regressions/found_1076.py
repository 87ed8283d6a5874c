"""Program 1076: result: np.float32(1.1429877) instead of np.float32(1.2024684) at (0,)  [seed 0]"""

import torch


def program(x, twin):
    m = x.shape[0]
    out1 = torch.zeros((m,), dtype=torch.float32)
    for i, left0, right0 in zip(range(m), out1, twin):
        for j in range(m):
            out1[j] = left0 + 0.25
    return out1


SIZES = [(4, 4), (7, 4), (2, 1), (0, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, 2 * n, generator=g)[:, 1::2]
    twin = x[:]
    return (x, twin)
