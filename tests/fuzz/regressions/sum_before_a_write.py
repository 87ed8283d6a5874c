"""A sum that is computed before a write to what it was made of showed what was written."""

import torch


def program(x, weights, labels):
    total = 0
    for i in range(x.shape[0]):
        total = total + x[i] @ weights
    counts = []
    for c in range(3):
        counts.append((labels == c).sum())
    for k in range(weights.shape[0]):
        weights[k] = weights[k] * 0.5
        labels[k] = 2
    return total, counts, weights, labels


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    rows = (5, 1, 3, 8, 2)[seed]
    return torch.randn(rows, 4, generator=g), torch.randn(4, 2, generator=g), torch.randint(0, 3, (9,), generator=g)
