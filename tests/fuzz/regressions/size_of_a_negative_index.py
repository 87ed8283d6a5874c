"""The size of the negative of an index: in C++ one sign beside another one counts down."""

import torch


def program(x, y, numbers, scale, into_bins):
    n = y.shape[0]
    m = x.shape[1]
    bins1 = torch.full((m, n), float("-inf"))
    for i, row0 in enumerate(y):
        for j in range(m):
            v2 = (x[(i + 1) % n, j // 2] * row0) % (abs(-j) + 1)
            if scale < 0.25:
                continue
            v3 = x[i, j]
            bins1[into_bins[i]] = torch.maximum(y, x[..., -1])
            bins1[into_bins[i]] += x[:, j]
    return bins1


SIZES = [(5, 3), (7, 4), (1, 1), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g).to(torch.float64)
    y = (torch.randn(n, generator=g) * 2).round() / 2
    numbers = torch.randn(n, generator=g).to(torch.float64).tolist()
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    into_bins = torch.randint(0, max(m, 1), (n,), generator=g).to(torch.int64)
    return (
        x,
        y,
        numbers,
        scale,
        into_bins,
    )
