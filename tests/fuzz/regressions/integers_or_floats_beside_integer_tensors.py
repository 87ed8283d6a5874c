"""A number that is an integer in some runs and a float in others decides the dtype of what integer tensors become."""

import torch


def program(x, limit):
    total, steps = 0, []
    for row in x:
        if row[0] > limit:
            total = 0.5
        total = total + (row > 0).sum()
    for row in x:
        factor = 2
        if row[0] > limit:
            factor = 2.5
        steps.append(factor * (row > 0).sum())
        steps.append(torch.arange(3) * factor)
        steps.append(torch.full((2,), factor))
        steps.append(row * factor)
    return total, steps


def arguments(seed):
    return (torch.randn(4, 3, generator=torch.Generator().manual_seed(seed)), [100.0, 0.0, 1.0, -100.0, 0.5][seed])
