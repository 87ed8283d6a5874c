"""A segment beside itself, as rows and as columns, is all pairs of its entries and not the diagonal."""

import torch


def program(x, starts, ends):
    out = torch.zeros(4)
    for i in range(4):
        v = x[starts[i] : ends[i]]
        out[i] = (v[:, None] - v[None, :]).abs().sum()
    return out


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(0, 4, (4,), generator=generator)
    return torch.randn(9, generator=generator), starts, starts + torch.randint(1, 5, (4,), generator=generator)
