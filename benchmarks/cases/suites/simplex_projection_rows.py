"""Projection of every row onto the simplex by bisection for the threshold, until the sum is near one.

Source: projection onto the probability simplex by bisection
Tags: control, while
Grad: no
Hand: loop over halvings
"""
import torch


def slow(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        lo = x[i].min().item() - 1.0
        hi = x[i].max().item()
        while hi - lo > 1e-10:
            mid = (lo + hi) / 2
            total = 0.0
            for v in x[i]:
                total += max(v.item() - mid, 0.0)
            if total > 1:
                lo = mid
            else:
                hi = mid
        t = (lo + hi) / 2
        for j in range(x.shape[1]):
            out[i, j] = torch.clamp(x[i, j] - t, min=0)
    return out


def hand(x):
    lo, hi = x.amin(1) - 1, x.amax(1)
    while True:
        live = hi - lo > 1e-10
        if not live.any():
            break
        mid = (lo + hi) / 2
        big = (x - mid[:, None]).clamp(min=0).sum(1) > 1
        lo = torch.where(live & big, mid, lo)
        hi = torch.where(live & ~big, mid, hi)
    return (x - ((lo + hi) / 2)[:, None]).clamp(min=0)


def inputs(size="small", seed=0):
    n, d = {"tiny": (3, 3), "small": (100, 12), "full": (500, 40)}[size]
    g = torch.Generator().manual_seed(seed)
    return (torch.randn(n, d, generator=g, dtype=torch.float64),)
