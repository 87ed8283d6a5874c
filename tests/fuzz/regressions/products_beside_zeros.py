"""A zero in one row changed the gradients of a product that underflows in another: [1e20, inf, 0, 1e-30], not zeros."""

import torch


def program(x):
    out = []
    for i in range(len(x)):
        out.append(x[i].prod() + x[i].cumprod(0).sum())
    return torch.stack(out)


def arguments(seed):
    rows = [[0.0, 1.0, 2.0, 3.0], [1e-30, 1e-30, 1e30, 1e20], [1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 1.0, 2.0]]
    return (torch.tensor(rows[seed % 2 :]).requires_grad_(),)
