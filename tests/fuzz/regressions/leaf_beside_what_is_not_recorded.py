"""torch.no_grad() was forgotten where only tensors that the iteration makes ask for gradients."""

import torch


def program(w, x):
    total = torch.zeros_like(w)
    for i in range(x.shape[0]):
        a = x[i].clone().requires_grad_()
        with torch.no_grad():
            n = a.norm()
        (g,) = torch.autograd.grad((a / n * w).sum(), a)
        total += g
    return total


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    return torch.rand(3, generator=g), torch.rand(5, 3, generator=g)
