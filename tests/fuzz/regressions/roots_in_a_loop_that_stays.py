"""A gradient of one result alone is zero for the others, also on its way through roots of zero in a loop that stays."""

import torch


def program(x):
    out = []
    for i in range(x.shape[0]):
        h = torch.zeros(2)
        for t in range(x.shape[1]):
            h = torch.sqrt(torch.abs(torch.tanh(h) + x[i, t])) * h.sum() + torch.sqrt(x[i, t])
        out.append(h)
    return out


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 3, (2 + seed % 3, 3), generator=g).float().requires_grad_(seed != 2)
    return (x,)
