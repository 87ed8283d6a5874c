"""Selective state-space scan (Mamba) over batch, channels, time and state, element by element.

Source: selective state-space models
Tags: recurrence
Grad: yes
Hand: loop over time
"""
import torch


def slow(x, delta, A, B, C, D):
    batch, L, d = x.shape
    n = A.shape[1]
    y = torch.zeros_like(x)
    for b in range(batch):
        for c in range(d):
            h = torch.zeros(n, dtype=x.dtype)
            for t in range(L):
                dA = torch.exp(delta[b, t, c] * A[c])
                h = dA * h + delta[b, t, c] * B[b, t] * x[b, t, c]
                y[b, t, c] = torch.dot(h, C[b, t]) + D[c] * x[b, t, c]
    return y


def hand(x, delta, A, B, C, D):
    batch, L, d = x.shape
    dA = torch.exp(delta[..., None] * A)
    dBx = (delta * x)[..., None] * B[:, :, None]
    h = torch.zeros(batch, d, A.shape[1], dtype=x.dtype)
    ys = []
    for t in range(L):
        h = dA[:, t] * h + dBx[:, t]
        ys.append((h * C[:, t, None]).sum(-1))
    return torch.stack(ys, 1) + D * x


def inputs(size="small", seed=0):
    b, L, d, n = {"tiny": (2, 3, 2, 2), "small": (2, 20, 6, 4), "full": (4, 100, 32, 16)}[size]
    g = torch.Generator().manual_seed(seed)
    r = lambda *s: torch.randn(*s, generator=g, dtype=torch.float64)
    return r(b, L, d).requires_grad_(), r(b, L, d).sigmoid().requires_grad_(), (-r(d, n).exp()).requires_grad_(), r(b, L, n).requires_grad_(), r(b, L, n).requires_grad_(), r(d).requires_grad_()
