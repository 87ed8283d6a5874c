"""The last element that a loop reads is handed out beside the tensor that it is a view of."""

import torch


def program(m):
    out = torch.zeros((m,), dtype=torch.float64)
    for row in out:
        kept = row
        best = kept
    square = torch.zeros(m, 3)
    for i in range(m):
        square[i, 0] = i
        first = square[i, 0]
    return out, best, first, square


def arguments(seed):
    return (seed + 1,)
