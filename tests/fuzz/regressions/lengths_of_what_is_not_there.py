"""Of a slice only the length is taken, at a place that its other dimension does not have."""

import torch


def program(x, n):
    kept = torch.zeros((n,), dtype=torch.float32)
    for i in range(n):
        kept[i] += len(x[i:n, -1])
    total = 0
    for i in range(n):
        total += x[i:, 1].shape[0] + x[i : i + 2, 0].numel()
    return kept, total


def arguments(seed):
    return torch.zeros((3, (3, 0, 1, 2)[seed % 4])), 3
