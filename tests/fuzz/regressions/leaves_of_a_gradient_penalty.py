"""What backward() reaches through torch.autograd.grad with create_graph alone got no gradient."""

import torch


def program(w, v, x):
    for i in range(x.shape[0]):
        w.grad = None
        v.grad = None
        a = x[i].clone().requires_grad_()
        (g,) = torch.autograd.grad((w * a * a).sum(), a, create_graph=True)
        (g.pow(2).sum() + (v * a).sum()).backward()
    return w.grad, v.grad


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    w, v = (torch.rand(3, generator=g).requires_grad_() for _ in range(2))
    return w, v, torch.rand(5, 3, generator=g)
