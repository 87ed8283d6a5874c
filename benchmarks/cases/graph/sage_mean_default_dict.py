"""GraphSAGE layers over a list of edges: neighbours collected in a defaultdict, their mean beside the node itself.

Source: Inductive Representation Learning on Large Graphs (GraphSAGE, mean aggregator)
Tags: graph, ragged, dict, module-call, reduction, append-stack
Grad: yes
Hand: loop over layers
"""

import random
from collections import defaultdict
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.own = nn.Linear(d, d)
        self.near = nn.Linear(d, d, bias=False)


def slow(layers, x, edges):
    neighbours = defaultdict(list)
    for u, v in edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    h = x
    for layer in layers:
        out = []
        for i in range(len(x)):
            total = torch.zeros(x.shape[1])
            for j in neighbours[i]:
                total = total + h[j]
            mean = total / max(len(neighbours[i]), 1)
            out.append(torch.relu(layer.own(h[i]) + layer.near(mean)))
        h = torch.stack(out)
    return h


def hand(layers, x, edges):
    pairs = torch.tensor(edges)
    source, target = torch.cat([pairs[:, 1], pairs[:, 0]]), torch.cat([pairs[:, 0], pairs[:, 1]])
    degree = torch.bincount(target, minlength=len(x)).clamp(min=1).unsqueeze(1)
    h = x
    for layer in layers:
        mean = torch.zeros_like(h).index_add(0, target, h.index_select(0, source)) / degree
        h = torch.relu(layer.own(h) + layer.near(mean))
    return h


def inputs(size="small", seed=0):
    n, m, d = {"tiny": (4, 5, 3), "small": (60, 240, 8), "full": (1500, 8000, 16)}[size]
    torch.manual_seed(seed)
    r = random.Random(seed)
    layers = nn.ModuleList([Layer(d) for _ in range(2)])
    return layers, torch.randn(n, d), [(r.randrange(n), r.randrange(n)) for _ in range(m)]
