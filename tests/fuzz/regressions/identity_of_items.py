"""`is` tells whether two names are one object, which values that batched code makes anew are not."""

import torch


def program(x):
    first, second, found = x, x * 2, []
    for _ in range(4):
        first, second = second, first + second * 0.1
        found.append(first)
    made = []
    for i in range(len(x)):
        value = x[i] * 2
        made.append(value)
    return first is found[-1], found[0] is found[1], made[-1] is value, made[0] is not value


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    return (torch.randn(seed % 3 + 1, 2, generator=g),)
