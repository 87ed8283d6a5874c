# precision: double
import itertools

import torch


def program(x, n):
    total = torch.zeros((), dtype=torch.float64)
    for i in range(len(x)):
        for j in itertools.chain(range(i - 2), range(i - n, len(x))):
            total = total + x[i] * x[j]
    return total


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(5, generator=generator, dtype=torch.float64), seed % 3
