"""The flag behind the dimension of a deviation says whether it is unbiased, not whether that stays."""

import torch


def program(x, starts, ends):
    out = []
    for i in range(4):
        v = x[starts[i] : ends[i]]
        out.append(v.std(0, False))
    return out


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(0, 4, (4,), generator=generator)
    ends = starts + torch.randint(2, 5, (4,), generator=generator)
    x = torch.randn(9, generator=generator)
    return x, starts, ends
