"""Square roots by bisection: the ends of each interval are elements of two tensors.

Source: bisection, as in textbooks
Tags: control, nested, conditional
Grad: no
Hand: loop over halvings, all intervals in each
"""
import torch


def slow(c, iters):
    lo = torch.zeros_like(c)
    hi = torch.ones_like(c) * 4
    for k in range(c.shape[0]):
        for _ in range(iters):
            mid = 0.5 * (lo[k] + hi[k])
            if mid * mid > c[k]:
                hi[k] = mid
            else:
                lo[k] = mid
    return 0.5 * (lo + hi)


def hand(c, iters):
    lo, hi = torch.zeros_like(c), torch.full_like(c, 4)
    for _ in range(iters):
        mid = 0.5 * (lo + hi)
        above = mid * mid > c
        lo, hi = torch.where(above, lo, mid), torch.where(above, mid, hi)
    return 0.5 * (lo + hi)


def inputs(size="small", seed=0):
    n, iters = {"tiny": (5, 4), "small": (60, 20), "full": (1000, 24)}[size]
    return torch.rand(n, generator=torch.Generator().manual_seed(seed)) * 10, iters
