"""Program 40476: arguments[1]: np.float32(3.0) instead of np.float32(0.5) at (0,)  [seed 2]"""

import torch


def program(x, y, k):
    n = y.shape[0]
    m = x.shape[0]
    for i in range(n):
        for j in range(n):
            y[i] = min(y[j], y[i]) - j * y[i]
    for j, row1 in enumerate(y):
        level1 = y[j - 1] + y[j]
        steps2 = 0


SIZES = [(3, 4, 2), (7, 4, 2), (3, 0, 2), (2, 2, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g).to(torch.float16)
    y = ((torch.randn(n, generator=g) * 2).round() / 2).to(torch.float16)
    return (x, y, k)
