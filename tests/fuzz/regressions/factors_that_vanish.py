"""A running product of factors of which two together vanish, and the next one makes that large again."""

import torch


def program(a, h):
    out = torch.zeros(a.shape[0])
    for i in range(a.shape[0]):
        h = h * a[i]
        out[i] = h
    return (out,)


def arguments(seed):
    tiny = 10.0 ** -(30 - seed)
    return torch.tensor([1.0, tiny, tiny, 1 / tiny, 1.0, 2.0, 0.5, 1.0]), torch.tensor(1 / tiny)
