"""Python's greatest item is NaN only where that comes first."""

import torch


def program(x, starts, ends):
    out = []
    for i in range(4):
        v = x[starts[i] : ends[i]]
        out.append(max(v) * 2)
    return out


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(0, 4, (4,), generator=generator)
    ends = starts + torch.randint(2, 5, (4,), generator=generator)
    x = torch.where(torch.rand(9, generator=generator) < 0.3, torch.nan, torch.arange(9.0))
    return x, starts, ends
