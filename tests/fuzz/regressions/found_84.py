"""Program 84: result[2]: torch.float64 () instead of torch.float32 ()  [seed 4]"""

import torch


def program(x, scale):
    m = x.shape[1]
    total3 = torch.zeros((), dtype=torch.float32)
    for j in range(m):
        if scale > 1:
            continue
        total3 += j
    return (total3,)


SIZES = [(3, 4, 2), (3, 3, 3), (0, 3, 2), (3, 0, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g).t()
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    return (x, scale)
