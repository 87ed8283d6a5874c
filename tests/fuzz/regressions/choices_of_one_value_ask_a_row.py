"""A choice between one value and the same raises where what it asks is a row of several elements."""

import torch


def program(a, v, n):
    last = 0.0
    for _ in range(n):
        w = a @ v
        last = v if w else v
        v = w / torch.linalg.norm(w)
        last = v @ a @ v
    return last, v


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [4, 3, 1, 2][seed % 4]
    return torch.randn(n, n, generator=g), torch.ones(n), [4, 3, 1, 0][seed % 4]
