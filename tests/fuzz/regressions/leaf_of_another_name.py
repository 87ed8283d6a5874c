"""A conversion that hands out its argument was taken for a new tensor: half of the gradient came."""

import torch


def program(w, x):
    total = torch.zeros(3)
    for i in range(x.shape[0]):
        y = w.float()
        (g,) = torch.autograd.grad((w * y * x[i]).sum(), y)
        total += g
    return total


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    return torch.rand(3, generator=g).requires_grad_(), torch.rand(5, 3, generator=g)
