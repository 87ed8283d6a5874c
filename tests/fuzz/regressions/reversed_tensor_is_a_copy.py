"""Rows of `reversed(tensor)` are those of a copy, and were read where the loop had stored already."""

import torch


def program(x):
    out = torch.zeros_like(x)
    i = 0
    for row in reversed(x):
        out[i] = row
        x[i] = 100.0 + i
        i += 1
    for a, b in zip(reversed(x), out):
        a.add_(b)
    return x, out


def arguments(seed):
    return (torch.arange(6.0).reshape([(3, 2), (6, 1), (1, 6), (2, 3)][seed % 4]),)
