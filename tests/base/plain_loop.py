"""Loops for processes of their own."""

import numpy as np
import torch


def doubled(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] * 2
    return out


def drawn(x):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] + np.random.rand()
    return out


def drawn_around(x):
    for i in range(x.shape[0]):
        np.random.seed(i)
        x[i] = np.random.rand() + np.random.normal()
    return x
