"""One graph attention head: for every node, score its neighbours and itself one by one, softmax, weighted sum.

Source: Graph Attention Networks (GAT)
Tags: graph, ragged, softmax, gather, append-stack, list-concatenation
Grad: yes
Hand: no loop
"""
import random
import torch
from torch import nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.W = nn.Linear(d, d, bias=False)
        self.a = nn.Parameter(torch.randn(2 * d) * 0.3)


def slow(model, x, neighbours):
    h = model.W(x)
    out = []
    for i in range(x.size(0)):
        around = neighbours[i] + [i]
        scores = []
        for j in around:
            scores.append(F.leaky_relu(torch.dot(model.a, torch.cat([h[i], h[j]])), 0.2))
        alpha = F.softmax(torch.stack(scores), dim=0)
        total = torch.zeros_like(h[i])
        for k, j in enumerate(around):
            total = total + alpha[k] * h[j]
        out.append(F.elu(total))
    return torch.stack(out)


def hand(model, x, neighbours):
    n, d = x.shape
    h = model.W(x)
    dst = torch.tensor([i for i in range(n) for _ in range(len(neighbours[i]) + 1)])
    src = torch.tensor([j for i in range(n) for j in neighbours[i] + [i]])
    left, right = h @ model.a[:d], h @ model.a[d:]
    e = F.leaky_relu(left.index_select(0, dst) + right.index_select(0, src), 0.2)
    top = torch.full((n,), float("-inf"), dtype=x.dtype).scatter_reduce(0, dst, e.detach(), "amax")
    w = torch.exp(e - top.index_select(0, dst))
    total = torch.zeros_like(h).index_add(0, dst, w.unsqueeze(1) * h.index_select(0, src))
    return F.elu(total / torch.zeros(n, dtype=x.dtype).index_add(0, dst, w).unsqueeze(1))


def inputs(size="small", seed=0):
    n, d, e = {"tiny": (4, 3, 5), "small": (30, 6, 120), "full": (600, 24, 4000)}[size]
    torch.manual_seed(seed)
    rng = random.Random(seed)
    neighbours = [[] for _ in range(n)]
    for s, t in {(rng.randrange(n), rng.randrange(n)) for _ in range(e)}:
        if s != t:
            neighbours[t].append(s)
    return Head(d), torch.randn(n, d), neighbours
