"""What was made of a tensor before it asked for a gradient was differentiated too."""

import torch


def program(x):
    total = torch.zeros(3)
    for i in range(x.shape[0]):
        a = x[i].clone()
        s = a.sum()
        a.requires_grad_()
        (a * a * s).sum().backward()
        total += a.grad
    return total


def arguments(seed):
    return (torch.rand(5, 3, generator=torch.Generator().manual_seed(seed)),)
