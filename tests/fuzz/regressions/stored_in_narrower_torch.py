"""Python's numbers that a tensor does not hold raise when they are stored, and wrap or overflow in a tensor."""

import torch


def program(counts, sizes):
    small, floats = torch.zeros(len(counts), dtype=torch.int16), torch.zeros(len(counts))
    for i in range(len(counts)):
        floats[i] = sizes[i] * 1e38
        small[i] = counts[i] * 1000
    return small, floats


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    counts = torch.randint(-30, 30 * (1 + seed % 2), (5,), generator=g).tolist()
    return counts, [float(size) for size in torch.randn(5, generator=g).abs() * (1 + seed)]
