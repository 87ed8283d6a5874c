"""Sums of products that are too small to add up: the product of the factors' sums is not."""

import torch


def program(a, b):
    total = torch.zeros(())
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = total + a[i] * b[j]
    return torch.log(total), total * 1e30 * 1e15


def arguments(seed):
    return torch.full((40 + seed,), 1e-23), torch.full((50,), 1e-23)
