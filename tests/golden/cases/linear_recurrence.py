"""A recurrence with stores and gradients: a native kernel, and its backward as a second one."""

import torch

OPTIONS = {"backend": "native"}
GRADIENTS = True
GRADCHECK = True


def recurrence(a, b):
    states = torch.zeros_like(b)
    h = torch.zeros((), dtype=b.dtype)
    for t in range(a.shape[0]):
        h = a[t] * h + b[t]
        states[t] = h
    return states


def arguments():
    generator = torch.Generator().manual_seed(1)
    a, b = torch.rand(2, 8, generator=generator, dtype=torch.float64)
    return a.requires_grad_(), b.requires_grad_()
