"""The gradient of relu6 at NaN is 1 for one of few numbers and 0 for one of many, by torch's vectors."""

import torch
import torch.nn.functional as F


def program(x):
    out = []
    for i in range(len(x)):
        out.append(F.relu6(x[i]).sum() + F.hardtanh(x[i] * 0.5).sum())
    return torch.stack(out)


def arguments(seed):
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    x[seed % 3, seed % 4] = float("nan")
    return (x.requires_grad_(),)
