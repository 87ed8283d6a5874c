"""Program 504264: warning: <fuzzed program 1497.14>:8: batched code and loop gave different results, the loop is kept (the loop raises IndexError: index 0 is out of bounds for dimension 0"""

import torch


def program(x, into_bins):
    n = x.shape[0]
    m = x.shape[1]
    bins1 = torch.zeros((m, n))
    for i in range(n):
        bins1[into_bins[i]] = bins1[into_bins[i]] + (
            torch.zeros((n,), dtype=torch.float32) if i < 1 else torch.ones((n,), dtype=torch.float32)
        )


SIZES = [(6, 2), (5, 2), (3, 0), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g)
    into_bins = torch.randint(0, max(m, 1), (n,), generator=g).to(torch.int64).tolist()
    return (x, into_bins)
