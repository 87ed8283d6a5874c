"""Under an 'if', a place that two iterations met, one of them counting from the end, gave its gradient to both."""

import torch


def program(x, mask, k):
    out = torch.zeros(x.shape[0])
    for i in range(-k, x.shape[0]):
        if mask[i + k] > 0:
            out[i] = x[i] * (i + 10)
    return out


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    count, k = ((5, 2), (3, 3), (4, 0), (6, 1), (8, 5))[seed]
    mask = torch.randint(0, 3, (count + k,), generator=g)
    return torch.randn(count, generator=g).requires_grad_(), mask, k
