"""Sums of slices of complex infinities: PyTorch's index_add multiplies by 1, which makes NaN."""

import torch


def program(x, mask):
    n = len(mask)
    bins1 = torch.full((n,), float("-inf"), dtype=torch.complex64)
    total2 = 1.0
    for i, row0 in enumerate(x):
        v3 = bins1
        for j in range(i, n):
            total2 = v3[:j].sum()
    return (total2,)


SIZES = [(4, 4), (2, 5), (2, 1), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n + 1, m, generator=g) * 2).round() / 2).to(torch.complex64)[1:]
    mask = torch.randint(0, max(2, 1), (n,), generator=g).to(torch.int64).bool()
    return (x, mask)
