"""Products of the loss's Hessian with many directions, one backward pass through the gradient for each.

Source: Pearlmutter's trick by double backward; sharpness and Fisher analyses
Tags: grad-inside, module-call, append-stack, nn.Module
Grad: no
Hand: no loop (batched vector-Jacobian products)
"""

import torch
from torch import nn
import torch.nn.functional as F


def slow(net, x, y, vs):
    params = list(net.parameters())
    loss = F.mse_loss(net(x), y)
    grads = torch.autograd.grad(loss, params, create_graph=True)
    flat = torch.cat([g.reshape(-1) for g in grads])
    out = []
    for v in vs:
        hv = torch.autograd.grad(torch.dot(flat, v), params, retain_graph=True)
        out.append(torch.cat([h.reshape(-1) for h in hv]))
    return torch.stack(out)


def hand(net, x, y, vs):
    params = list(net.parameters())
    loss = F.mse_loss(net(x), y)
    flat = torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, params, create_graph=True)])
    hv = torch.autograd.grad(flat, params, vs, is_grads_batched=True)
    return torch.cat([h.flatten(1) for h in hv], 1)


def inputs(size="small", seed=0):
    n = {"tiny": 3, "small": 40, "full": 600}[size]
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    p = sum(q.numel() for q in net.parameters())
    return net, torch.randn(16, 4), torch.randn(16, 1), torch.randn(n, p)
