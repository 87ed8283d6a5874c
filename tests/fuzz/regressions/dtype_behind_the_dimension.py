"""The type behind the dimension of a softmax is that of its result."""

import torch


def program(x, starts, ends):
    out = []
    for i in range(4):
        v = x[starts[i] : ends[i]]
        out.append(torch.softmax(v, 0, torch.float64))
    return out


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(0, 4, (4,), generator=generator)
    ends = starts + torch.randint(2, 5, (4,), generator=generator)
    x = torch.randn(9, generator=generator)
    return x, starts, ends
