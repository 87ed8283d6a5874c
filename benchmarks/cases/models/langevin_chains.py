"""Samples by gradient steps down an energy network, one chain after the other, each step with a gradient of its own.

Source: energy-based models: sampling by (noise-free) Langevin dynamics
Tags: grad-inside, nested, sequential, module-call, append-stack
Grad: no
Hand: loop over steps
"""

import torch
from torch import nn


def slow(energy, x0, steps, eta):
    out = []
    for i in range(x0.shape[0]):
        x = x0[i].clone()
        for _ in range(steps):
            x = x.detach().requires_grad_(True)
            g = torch.autograd.grad(energy(x).sum(), x)[0]
            x = x - eta * g
        out.append(x.detach())
    return torch.stack(out)


def hand(energy, x0, steps, eta):
    x = x0.clone()
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        x = x - eta * torch.autograd.grad(energy(x).sum(), x)[0]
    return x.detach()


def inputs(size="small", seed=0):
    n, t = {"tiny": (3, 2), "small": (12, 6), "full": (80, 15)}[size]
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)), torch.randn(n, 2), t, 0.1
