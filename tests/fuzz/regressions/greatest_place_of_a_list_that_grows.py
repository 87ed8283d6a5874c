"""The greatest of the places of a list, taken after the list has grown."""

import torch


def program(x, n):
    xs, places = [1, 2], []
    for _ in range(n):
        for j in range(len(xs)):
            places.append(j)
    for k in range(n):
        xs.append(k)
    most = max(places)
    out = torch.zeros(most + 1)
    for p in range(len(places)):
        out[places[p]] += x[p]
    return (out, most)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(20, generator=g), (3, 1, 5, 2)[seed % 4]
