"""Program 261205: result[0]: np.float32(1.0805265) instead of np.float32(1.076978) at (1, 1)  [seed 0, no_grad]"""

import torch


def program(x, y):
    n = x.shape[0]
    grid1 = torch.full((n,), 1.0, dtype=torch.float32)
    for i, row0 in enumerate(y, start=1):
        for j in range(1, n):
            grid1[j,] = min(x[j], x[j]) if row0 != 1.5 else i
            x[j] = x.norm()
    return (grid1,)


SIZES = [(4, 4), (2, 5), (1, 4), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = (torch.randn(n, generator=g) * 2).round() / 2
    y = torch.randn(2 * m, generator=g)[::2]
    return (x, y)
