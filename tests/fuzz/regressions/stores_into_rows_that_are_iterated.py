import torch


def program(x):
    y = x * 1
    for row in y:
        row[0] = 5.0
    for row in y:
        row[row > 0.5] = 0.0
    return y


def arguments(seed):
    return (torch.full((3, 2), 0.25 * seed, dtype=torch.float64, requires_grad=seed % 2 == 1),)
