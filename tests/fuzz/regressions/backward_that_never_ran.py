"""A parameter of a pass that no iteration ran got zeros, where the loop leaves None."""

import torch


def program(w, v, x):
    for i in range(x.shape[0]):
        (v * x[i]).sum().backward()
        if x[i, 0] > 0.7:
            (w * x[i]).sum().backward()
    return w.grad, v.grad


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    w, v = (torch.rand(3, generator=g).requires_grad_() for _ in range(2))
    return w, v, torch.rand(1 + seed, 3, generator=g)
