"""PyTorch refuses to store a row into another that shares some of its elements."""

import torch


def program(w, columns):
    for i in range(columns.shape[1] // 2):
        columns[:, 2 * i + 1] += columns[:, 2 * i]
    for i in range(1, w.shape[0]):
        w[i] += w[i - 1]
    return w


def arguments(seed):
    apart = torch.arange(32.0).reshape(4, 8)
    return (torch.arange(11.0).unfold(0, 8, 1) if seed % 2 else apart.clone()), apart
