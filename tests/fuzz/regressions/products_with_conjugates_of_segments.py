"""The first factor of 'vdot' is conjugated."""

import torch


def program(x, starts, ends):
    out = []
    for i in range(4):
        v = x[starts[i] : ends[i]]
        out.append(torch.vdot(v, v * 1j))
    return out


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(0, 4, (4,), generator=generator)
    ends = starts + torch.randint(2, 5, (4,), generator=generator)
    x = torch.randn(9, generator=generator, dtype=torch.complex64)
    return x, starts, ends
