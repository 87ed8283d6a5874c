"""One differentiable gradient step per task on weights held as tensors, then the loss on the task's query set.

Source: Model-Agnostic Meta-Learning, functional style
Tags: grad-inside, module-call, append-stack
Grad: yes
Hand: no loop; algebra beyond batching (inner gradient by hand)
"""

import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.l1 = nn.Linear(d, h)
        self.l2 = nn.Linear(h, 1)


def slow(net, xs, ys, xq, yq, lr):
    losses = []
    for i in range(len(xs)):
        w1, b1, w2, b2 = net.l1.weight, net.l1.bias, net.l2.weight, net.l2.bias
        pred = F.linear(torch.tanh(F.linear(xs[i], w1, b1)), w2, b2)
        g = torch.autograd.grad(F.mse_loss(pred, ys[i]), [w1, b1, w2, b2], create_graph=True)
        w1, b1, w2, b2 = w1 - lr * g[0], b1 - lr * g[1], w2 - lr * g[2], b2 - lr * g[3]
        pred = F.linear(torch.tanh(F.linear(xq[i], w1, b1)), w2, b2)
        losses.append(F.mse_loss(pred, yq[i]))
    return torch.stack(losses)


def hand(net, xs, ys, xq, yq, lr):
    T, n, _ = xs.shape
    W1, b1, W2, b2 = net.l1.weight, net.l1.bias, net.l2.weight, net.l2.bias
    h = torch.tanh(xs @ W1.t() + b1)
    e = (h @ W2.t() + b2 - ys) * (2 / n)
    d = (e @ W2) * (1 - h * h)
    w1 = W1 - lr * d.transpose(1, 2) @ xs
    c1 = b1 - lr * d.sum(1)
    w2 = W2 - lr * e.transpose(1, 2) @ h
    c2 = b2 - lr * e.sum(1)
    h = torch.tanh(torch.baddbmm(c1[:, None], xq, w1.transpose(1, 2)))
    p = torch.baddbmm(c2[:, None], h, w2.transpose(1, 2))
    return ((p - yq) ** 2).mean((1, 2))


def inputs(size="small", seed=0):
    T, n = {"tiny": (3, 4), "small": (30, 8), "full": (600, 16)}[size]
    torch.manual_seed(seed)
    f = lambda *s: torch.randn(*s)
    return Net(3, 8), f(T, n, 3), f(T, n, 1), f(T, n, 3), f(T, n, 1), 0.1
