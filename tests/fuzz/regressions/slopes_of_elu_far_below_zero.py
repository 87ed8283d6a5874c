"""Gradients of elu and softsign came from their results, in which they cancel: log(0) instead of -20."""

import torch
import torch.nn.functional as F


def program(x):
    out = []
    for i in range(len(x)):
        row = x[i].detach().clone().requires_grad_()
        (g,) = torch.autograd.grad((F.elu(row) + F.softsign(row)).sum(), row)
        (h,) = torch.autograd.grad(F.elu(row).sum(), row)
        out.append(torch.log(h) + g)
    return torch.stack(out)


def arguments(seed):
    return (torch.tensor([[-20.0, 1.0, -float("inf")], [-17.5, 0.0, -30.0], [float("inf"), -1.0, 2.0]])[seed % 3 :],)
