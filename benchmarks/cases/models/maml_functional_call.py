"""Model-agnostic meta-learning with functional_call: each task adapts a dict of weights, the query loss trains them all.

Source: MAML, as written with torch.func.functional_call
Tags: grad-inside, module-call, functional-call, dict-of-tensors, append-stack
Grad: yes
Hand: no loop over tasks; torch.func.vmap over the inner steps
"""
import torch
from torch import nn
import torch.nn.functional as F
from torch.func import functional_call


class Net(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh())
        self.head = nn.Linear(h, 1)

    def forward(self, x):
        return self.head(self.body(x))


def slow(net, xs, ys, xq, yq, lr, steps):
    losses = []
    for t in range(len(xs)):
        weights = dict(net.named_parameters())
        for _ in range(steps):
            loss = F.mse_loss(functional_call(net, weights, (xs[t],)), ys[t])
            grads = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
            weights = {name: w - lr * g for (name, w), g in zip(weights.items(), grads)}
        losses.append(F.mse_loss(functional_call(net, weights, (xq[t],)), yq[t]))
    return torch.stack(losses)


def hand(net, xs, ys, xq, yq, lr, steps):
    def loss(weights, x, y):
        return F.mse_loss(functional_call(net, weights, (x,)), y)

    def task(x, y, q, r):
        weights = dict(net.named_parameters())
        for _ in range(steps):
            grads = torch.func.grad(loss)(weights, x, y)
            weights = {name: w - lr * grads[name] for name, w in weights.items()}
        return loss(weights, q, r)

    return torch.func.vmap(task)(xs, ys, xq, yq)


def inputs(size="small", seed=0):
    t, n, d, h, k = {"tiny": (3, 4, 2, 3, 2), "small": (10, 10, 2, 12, 3), "full": (200, 20, 4, 32, 4)}[size]
    torch.manual_seed(seed)
    return Net(d, h), torch.randn(t, n, d), torch.randn(t, n, 1), torch.randn(t, n, d), torch.randn(t, n, 1), 0.05, k
