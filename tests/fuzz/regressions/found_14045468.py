"""Program 14045468: gradient 5: there instead of none  [seed 0]"""

import torch


def program(x, rows):
    n = x.shape[0]
    wave1 = torch.zeros((n,))
    for i in range(n):
        if i + 1 < n:
            wave1[1] = wave1[i] + rows[i].amax()
    return wave1


SIZES = [(4, 3), (5, 2), (3, 0), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    rows = [(torch.randn(m, generator=g) * 2).round() / 2 for _ in range(n)]
    for row in rows:
        row.requires_grad_()
    return (x, rows)
