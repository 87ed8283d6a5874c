"""Program 25036716: result[1]: np.float32(0.0) instead of np.float32(-1.0) at (0,)  [seed 0]"""

import torch


def program(x, y):
    n = x.shape[0]
    out2 = torch.ones((n,), dtype=torch.float32)
    for left0, right0 in zip(y, out2):
        for j in range(0, n, 2):
            out2[j] -= right0
    return (out2,)


SIZES = [(3, 4), (5, 2), (1, 4), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g)
    y = ((torch.randn(m, n, generator=g) * 2).round() / 2).t()
    y.requires_grad_(seed != 2)
    return (x, y)
