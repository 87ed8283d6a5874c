"""A lane that does not take a square root gives it no gradient, not NaN; a leaf that no lane reads gets none at all."""

import torch


def program(x, bias):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        if x[i] > 0:
            total = total + torch.sqrt(x[i])
        if x[i] > 100:
            total = total + bias
    return total


def arguments(seed):
    x = torch.tensor([0.0, 4.0, -1.0, 0.0, 9.0])[seed:]
    return x.requires_grad_(), torch.ones(()).requires_grad_()
