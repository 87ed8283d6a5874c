"""Program 230771: result: np.float32(nan) instead of np.float32(0.0) at ()  [seed 4]"""

import torch


def helper(a, b):
    c = b
    return c + 0.5


def program(x):
    n = x.shape[0]
    scaled1 = 1.0
    for row0 in x:
        for j in range(n):
            for l, row2 in enumerate(x):
                v2 = x[l:].max()
                v3 = x <= 0.1
                scaled1 = scaled1 * (row0 == 2.0)
                scaled1 = scaled1 * helper(v3[j], v2)
    return scaled1


SIZES = [(5, 3), (7, 4), (1, 3), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = (torch.randn(n, generator=g) * 2).round() / 2
    return (x,)
