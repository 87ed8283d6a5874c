"""Diagonal Fisher information for elastic weight consolidation: backward per sample, squared gradients averaged.

Source: elastic weight consolidation (overcoming catastrophic forgetting), as most public implementations write it
Tags: grad-inside, module-call, reduction, dict-of-tensors
Grad: no
Hand: no loop; torch.func.vmap over torch.func.grad
"""
import torch
from torch import nn
import torch.nn.functional as F


def slow(model, X, y):
    fisher = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
    for i in range(len(X)):
        model.zero_grad()
        loss = F.nll_loss(F.log_softmax(model(X[i].unsqueeze(0)), dim=1), y[i].unsqueeze(0))
        loss.backward()
        for n, p in model.named_parameters():
            fisher[n] += p.grad.detach() ** 2 / len(X)
    return fisher


def hand(model, X, y):
    params = {n: p.detach() for n, p in model.named_parameters()}

    def loss(ps, x, t):
        out = torch.func.functional_call(model, ps, (x.unsqueeze(0),))
        return F.nll_loss(F.log_softmax(out, dim=1), t.unsqueeze(0))

    grads = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))(params, X, y)
    model.zero_grad()
    loss({n: p for n, p in model.named_parameters()}, X[-1], y[-1]).backward()  # the loop leaves the last one's
    return {n: (g ** 2).mean(0) for n, g in grads.items()}


def inputs(size="small", seed=0):
    n, d, h = {"tiny": (4, 3, 4), "small": (60, 8, 16), "full": (2500, 32, 64)}[size]
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, 5))
    return model, torch.randn(n, d), torch.randint(0, 5, (n,))
