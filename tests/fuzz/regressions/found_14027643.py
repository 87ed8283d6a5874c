# precision: double
"""Program 14027643: gradient of result -1 by anything: there is none  [seed 4]"""

import torch


def program(x, y, near):
    n = y.shape[0]
    kept3 = []
    for i in range(n):
        mine1 = []
        mine1.append(x[i] // 2)
        kept3.append(mine1[0])
        mine1 = []
        for e2 in near[i]:
            mine1.append(x.sum())
        if len(mine1) > 1:
            kept3.append(torch.stack(mine1).max())
    return kept3


SIZES = [(3, 4), (7, 4), (3, 0), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g).to(torch.float64)
    x.requires_grad_(seed != 2)
    y = ((torch.randn(n, generator=g) * 2).round() / 2).to(torch.float64)
    near = [
        torch.randint(0, max(n, 1), ((r * 7 + seed) % 4,), generator=g).to(torch.int64).tolist() if n else []
        for r in range(n)
    ]
    return (x, y, near)
