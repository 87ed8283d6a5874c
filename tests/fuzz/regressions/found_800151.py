"""Program 800151: result: requires_grad False instead of True  [seed 0]"""

import torch


def program(y, couples):
    n = y.shape[0]
    kept1 = y.clone()
    for j in range(n):
        kept1[j] = couples[j][0].sum()
    return kept1


SIZES = [(5, 3), (7, 4), (2, 2), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = (torch.randn(n, generator=g) * 2).round() / 2
    y.requires_grad_(seed != 2)
    couples = [
        ((torch.randn(m, generator=g) * 2).round() / 2, (torch.randn((), generator=g) * 2).round() / 2)
        for r in range(n)
    ]
    return (y, couples)
