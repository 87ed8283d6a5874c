"""Gradient penalty of a critic: per sample a point between real and fake, the norm of the critic's gradient there, and its distance from one.

Source: Improved training of Wasserstein GANs (WGAN-GP)
Tags: grad-inside, module-call, reduction, append-stack
Grad: yes
Hand: no loop
"""

import torch
from torch import nn


def slow(critic, real, fake, eps):
    gp = 0.0
    for i in range(real.shape[0]):
        z = eps[i] * real[i] + (1 - eps[i]) * fake[i]
        z = z.detach().requires_grad_(True)
        out = critic(z)
        g = torch.autograd.grad(out.sum(), z, create_graph=True)[0]
        gp = gp + (g.norm(2) - 1) ** 2
    return gp / real.shape[0]


def hand(critic, real, fake, eps):
    z = (eps[:, None] * real + (1 - eps[:, None]) * fake).detach().requires_grad_(True)
    g = torch.autograd.grad(critic(z).sum(), z, create_graph=True)[0]
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


def inputs(size="small", seed=0):
    n = {"tiny": 3, "small": 40, "full": 800}[size]
    torch.manual_seed(seed)
    return (
        nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)),
        torch.randn(n, 6),
        torch.randn(n, 6),
        torch.rand(n),
    )
