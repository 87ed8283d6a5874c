"""A recurrent cell whose state is None before its first step, over a batch of sequences one by one.

Source: hand-written recurrent cells (hidden=None as default)
Tags: sequential, nested, marker, append-stack
Grad: yes
"""
import torch


def step(x, h, W, U):
    z = W @ x
    if h is not None:
        z = z + U @ h
    return torch.tanh(z)


def slow(xs, W, U):
    states = []
    for b in range(xs.shape[0]):
        h = None
        row = []
        for t in range(xs.shape[1]):
            h = step(xs[b, t], h, W, U)
            row.append(h)
        states.append(torch.stack(row))
    return torch.stack(states)


def hand(xs, W, U):
    zs = (xs @ W.t()).unbind(1)
    h, Ut = torch.tanh(zs[0]), U.t()
    states = [h]
    for z in zs[1:]:
        h = torch.tanh(torch.addmm(z, h, Ut))
        states.append(h)
    return torch.stack(states, 1)


def inputs(size="small", seed=0):
    B, T, D, H = {"tiny": (2, 3, 3, 4), "small": (10, 30, 5, 8), "full": (64, 200, 16, 32)}[size]
    g = torch.Generator().manual_seed(seed)
    xs = torch.randn(B, T, D, generator=g)
    return xs, torch.randn(H, D, generator=g) / D**0.5, torch.randn(H, H, generator=g) * 0.5 / H**0.5
