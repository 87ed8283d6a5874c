# precision: double
"""Program 5551296: exception: none instead of RuntimeError('selected index k out of range')  [seed 2]"""

import torch


def program(x, y, uneven, m):
    n = x.shape[0]
    kept3 = torch.full((m,), -1.0, dtype=torch.float64)
    i = -1
    for i in range(m):
        top1, place2 = torch.topk((x[:, i] + x[:, i]), 1)
        if n > 0:
            kept3[i] = place2.sum()
    return kept3, i


SIZES = [(4, 4), (5, 2), (0, 3), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n, 2 * m, generator=g) * 2).round() / 2).to(torch.float64)[:, 1::2]
    y = torch.randn(m, generator=g).to(torch.float64)
    uneven = [torch.randn((1 + (r * 5 + seed) % 3), generator=g).to(torch.float64) for r in range(n)]
    return (
        x,
        y,
        uneven,
        m,
    )
