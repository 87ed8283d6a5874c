"""Program 25016820: second gradient 0: np.float32(nan) instead of np.float32(0.0)  [seed 0]"""

import torch


def program(x, y):
    n = len(y)
    wave4 = torch.zeros((n,), dtype=torch.float32)
    for i in range(0, n, 2):
        v5 = abs(i * x[i]) ** 0.5
        if i > 0:
            wave4[i] = v5
    return (wave4,)


SIZES = [(5, 3), (2, 5), (0, 3), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    x.requires_grad_(seed != 2)
    y = torch.randn(n, generator=g)
    return (x, y)
