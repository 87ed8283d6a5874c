"""Autograd makes NaN of elements that nobody reads where the derivative is infinite: 0 times infinity."""

import torch


def program(x, w):
    out = torch.zeros((x.shape[0],))
    total = 0
    for i in range(x.shape[0]):
        roots = x[:, i % x.shape[1]] ** 0.5
        parts = w / x[:, 0]
        total = total + roots[i] * 0.5 + parts[i] + torch.log(x[i])[0]
        out[i] = total
    return out


def arguments(seed):
    x = torch.arange(12.0).reshape(4, 3).requires_grad_(seed != 2)
    w = torch.ones(4).requires_grad_(seed != 2)
    return x, w
