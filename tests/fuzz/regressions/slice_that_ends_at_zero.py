"""Stores into slices that end at 0 went to the end of the row."""

import torch


def program(n):
    out = torch.zeros(n, n)
    for i in range(n):
        out[i, i:0] = 1
        out[i, 1:i] += 2
    return out


def arguments(seed):
    return ((5, 1, 0, 3, 8)[seed],)
