"""Dynamic time warping with gradients: the backward kernel walks the loop in reverse and follows the smaller side."""

import torch

OPTIONS = {"backend": "native"}
GRADIENTS = True
GRADCHECK = True


def warp(a, b):
    n, m = a.shape[0], b.shape[0]
    cost = torch.full((n + 1, m + 1), float("inf"), dtype=a.dtype)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            distance = (a[i - 1] - b[j - 1]) ** 2
            cost[i, j] = distance + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[n, m]


def arguments():
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.randn(size, generator=generator, dtype=torch.float64) for size in (5, 4))
    return a.requires_grad_(), b.requires_grad_()
