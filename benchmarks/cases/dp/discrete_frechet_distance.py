"""Discrete Fréchet distance between two curves, differentiable in their points: the shortest leash for a walk along both.

Source: Eiter and Mannila, Computing discrete Fréchet distance (1994)
Tags: dp, pairwise, nested, conditional, sequential
Grad: yes
Hand: loop over anti-diagonals
"""
import torch


def slow(curve, other):
    n, m = curve.shape[0], other.shape[0]
    leash = torch.zeros(n, m, dtype=curve.dtype)
    for i in range(n):
        for j in range(m):
            apart = torch.dist(curve[i], other[j])
            if i == 0 and j == 0:
                leash[i, j] = apart
            elif i == 0:
                leash[i, j] = torch.maximum(leash[i, j - 1].clone(), apart)
            elif j == 0:
                leash[i, j] = torch.maximum(leash[i - 1, j].clone(), apart)
            else:
                before = torch.stack([leash[i - 1, j].clone(), leash[i, j - 1].clone(), leash[i - 1, j - 1].clone()])
                leash[i, j] = torch.maximum(torch.min(before), apart)
    return leash[n - 1, m - 1]


def hand(curve, other):
    n, m = curve.shape[0], other.shape[0]
    apart = torch.cdist(curve, other, compute_mode="donot_use_mm_for_euclid_dist")
    # shear so that anti-diagonal d is row d: S[d, i] = apart[i, d - i]
    inf = float("inf")
    sheared = torch.nn.functional.pad(apart, (0, n), value=inf).reshape(-1)[: n * (n + m - 1)].view(n, n + m - 1).T
    edge = torch.full((1,), inf, dtype=curve.dtype)
    before = torch.full((n + 1,), inf, dtype=curve.dtype)
    last = torch.cat([edge, sheared[0]])
    for row in sheared[1:].unbind(0):
        best = torch.minimum(torch.minimum(last[1:], last[:-1]), before[:-1])
        before, last = last, torch.cat([edge, torch.maximum(best, row)])
    return last[n]


def inputs(size="small", seed=0):
    n, m, d = {"tiny": (3, 4, 2), "small": (12, 14, 3), "full": (60, 70, 3)}[size]
    g = torch.Generator().manual_seed(seed)
    curve = lambda n: torch.randn(n, d, generator=g, dtype=torch.float64).cumsum(0)
    return curve(n), curve(m)
