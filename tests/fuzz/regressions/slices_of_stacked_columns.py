"""Columns of slices that were stacked along their own dimension again were columns of the whole."""

import torch


def program(x):
    return torch.stack([torch.tanh(x[1:, t]) - x[:-1, t] for t in range(x.shape[1])], 1)


SIZES = [(4, 5), (2, 1), (3, 3), (6, 2), (2, 7)]


def arguments(seed):
    return (torch.randn(SIZES[seed], generator=torch.Generator().manual_seed(seed)),)
