"""Two arguments are apart on the first calls, then the same memory, one entry apart."""

import torch


def program(source, target):
    for i in range(source.shape[0]):
        target[i] = source[i] * 2 + 1
    return target.sum()


def arguments(seed):
    base = torch.arange(6.0)
    if seed < 2:
        return base[:5], torch.zeros(5)
    return base[:5], base[1:]
