"""A requirement that fails: at lane 57 Python divides by zero. All is undone, and the loop raises by itself."""

import torch

RAISES = ZeroDivisionError


def inverse_counts(counts, weights):
    for i in range(len(counts)):
        weights[i] = 1.0 / counts[i]
    return weights


def arguments():
    counts = [float(k + 1) for k in range(64)]
    counts[57] = 0.0
    return counts, torch.ones(64, dtype=torch.float64)
