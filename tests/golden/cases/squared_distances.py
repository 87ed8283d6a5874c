"""A dense nest with stores: both loops become dimensions, and the array that they fill is replaced altogether."""

import torch


def squared_distances(a, b):
    squares = torch.zeros((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            squares[i, j] = torch.sum((a[i, :] - b[j, :]) ** 2)
    return squares


def arguments():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(5, 3, generator=generator), torch.randn(4, 3, generator=generator)
