"""A parameter that backward() reaches through round() alone got no gradient, where torch gives zeros."""

import torch


def program(w, v, x):
    for i in range(x.shape[0]):
        w.grad = None
        v.grad = None
        (w.round() * x[i] + v * x[i]).sum().backward()
    return w.grad, v.grad


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    w, v = (torch.rand(3, generator=g).requires_grad_() for _ in range(2))
    return w, v, torch.rand(5, 3, generator=g)
