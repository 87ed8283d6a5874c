"""`and` must not read what its left side excludes, and a negative index wraps."""

import torch


def program(x, numbers):
    rises = 0
    wrapped = torch.zeros_like(x)
    for i in range(x.shape[0]):
        if i < len(numbers) and numbers[i] > 0:
            rises += 1
        if i > 0 and x[i - 1] < x[i]:
            rises += 1
        wrapped[i] = x[i - 1]
    return rises, wrapped


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(5 - seed, generator=g), [1.0, -1.0]
