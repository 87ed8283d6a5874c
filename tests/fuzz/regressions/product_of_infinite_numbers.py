"""Where one product of a batch is zero, the gradients of all are computed in another way, which infinities tell."""

import torch


def program(x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = torch.prod(x[i])
    return out


def arguments(seed):
    last = (float("inf"), 2.0, float("nan"), 0.0)[seed % 4]
    x = torch.tensor([[0.0, 1.0, 2.0], [last, 2.0, 3.0], [1.0, 2.0, 3.0]], dtype=torch.float64)
    return (x.requires_grad_(seed != 3),)
