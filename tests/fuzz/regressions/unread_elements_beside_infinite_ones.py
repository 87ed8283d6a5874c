"""Elements that nobody reads had a gradient of zero in a kernel, where relu(x) beside them is infinite: it is NaN."""

import torch


def program(x, v):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        row = torch.relu(x[i]) * v[i]
        h = torch.tanh(h * 0.5 + row[0])
    return h


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x, v = (torch.rand(3, 2, generator=g, dtype=torch.float64) for _ in range(2))
    x[seed % 3, 1] = float("inf") if seed % 2 else 0.5
    return x.requires_grad_(), v.requires_grad_()
