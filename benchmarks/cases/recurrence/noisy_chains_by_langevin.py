"""Samples of a Gaussian by noisy gradient steps: chains one after the other, noise drawn in each step.

Source: unadjusted Langevin algorithm
Tags: random, sequential, nested, append-stack
Grad: no
Hand: loop over steps
"""

import math

import torch


def slow(starts, precision, steps, eta):
    out = []
    for x in starts:
        for _ in range(steps):
            x = x - eta * (precision @ x) + math.sqrt(2 * eta) * torch.randn_like(x)
        out.append(x)
    return torch.stack(out)


def hand(starts, precision, steps, eta):
    noise = math.sqrt(2 * eta) * torch.randn(len(starts), steps, starts.shape[1])
    x = starts
    for t in range(steps):
        x = x - eta * (x @ precision.T) + noise[:, t]
    return x


def inputs(size="small", seed=0):
    n, steps = {"tiny": (3, 2), "small": (40, 20), "full": (600, 60)}[size]
    g = torch.Generator().manual_seed(seed)
    root = torch.randn(16, 16, generator=g) / 4
    return torch.randn(n, 16, generator=g), root @ root.T + torch.eye(16), steps, 0.01
