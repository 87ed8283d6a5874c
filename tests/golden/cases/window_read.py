"""A window read: a slice that begins at the loop's position is a strided view of the tensor, with nothing copied."""

import torch

OPTIONS = {"backend": "torch"}


def moving_products(x, weights):
    width = weights.shape[0]
    count = x.shape[0] - width + 1
    sums = torch.zeros(count)
    for i in range(count):
        sums[i] = torch.sum(x[i : i + width] * weights)
    return sums


def arguments():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(9, generator=generator), torch.randn(3, generator=generator)
