"""Implicit score matching: squared norm of the score plus its divergence, by one gradient for each coordinate of each sample.

Source: Estimation of non-normalized statistical models by score matching (Hyvarinen)
Tags: grad-inside, nested, module-call, reduction
Grad: yes
Hand: loop over coordinates only
"""

import torch
from torch import nn


def slow(net, xs):
    total = 0.0
    for x in xs:
        x = x.clone().requires_grad_(True)
        s = net(x)
        div = 0.0
        for d in range(3):
            div = div + torch.autograd.grad(s[d], x, create_graph=True)[0][d]
        total = total + 0.5 * (s**2).sum() + div
    return total / len(xs)


def hand(net, xs):
    x = xs.clone().requires_grad_(True)
    s = net(x)
    div = sum(torch.autograd.grad(s[:, d].sum(), x, create_graph=True)[0][:, d] for d in range(3))
    return (0.5 * (s**2).sum(1) + div).mean()


def inputs(size="small", seed=0):
    n = {"tiny": 3, "small": 30, "full": 800}[size]
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3)), torch.randn(n, 3)
