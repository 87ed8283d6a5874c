"""A loop is left under `with`, and what it adds to began as a number: the iteration that leaves adds nothing."""

import torch


def program(x):
    n = x.shape[0]
    total1 = 1.0
    total2 = torch.zeros(())
    for i, row0 in enumerate(x):
        for row1 in x:
            with torch.no_grad():
                if i % 2 == 0:
                    break
            total1 += (row1 * x[max(i - 1, 0)]).neg()
    return (total1, total2)


SIZES = [(3, 4), (7, 4), (0, 3), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    x.requires_grad_(seed != 2)
    return (x,)
