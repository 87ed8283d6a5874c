"""An array of the numbers of an empty list has the default type of floats; others are of integers."""

import torch


def program(x):
    places = []
    for b in range(len(x)):
        chosen = []
        for t in range(x.shape[1]):
            if x[b, t] > 0:
                chosen.append(t)
        places.append(torch.tensor(chosen))
    return places


SIZES = [(6, 2), (3, 4), (1, 3), (2, 0)]


def arguments(seed):
    return (torch.randn(SIZES[seed % 4], generator=torch.Generator().manual_seed(seed)),)
