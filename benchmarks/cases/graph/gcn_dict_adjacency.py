"""Graph convolution with symmetric normalisation over a dict of neighbour lists, node by node.

Source: Semi-supervised classification with graph convolutional networks (Kipf and Welling)
Tags: graph, ragged, dict, module-call, reduction, append-stack
Grad: yes
Hand: no loop
"""

import math
import random
import torch
from torch import nn


class GCN(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)

    def forward(self, x, adj):
        out = []
        for v in range(len(x)):
            agg = x[v] / (len(adj[v]) + 1)
            for u in adj[v]:
                agg = agg + x[u] / math.sqrt((len(adj[v]) + 1) * (len(adj[u]) + 1))
            out.append(torch.relu(self.lin(agg)))
        return torch.stack(out)


def slow(net, x, adj):
    return net(x, adj)


def hand(net, x, adj):
    deg = torch.tensor([len(adj[v]) + 1.0 for v in range(len(x))])
    dst = torch.tensor([v for v in range(len(x)) for _ in adj[v]])
    src = torch.tensor([u for v in range(len(x)) for u in adj[v]])
    w = (deg[dst] * deg[src]).rsqrt()
    agg = (x / deg[:, None]).index_add(0, dst, x[src] * w[:, None])
    return torch.relu(net.lin(agg))


def inputs(size="small", seed=0):
    n, k = {"tiny": (5, 2), "small": (150, 8), "full": (2000, 20)}[size]
    torch.manual_seed(seed)
    r = random.Random(seed)
    return GCN(8), torch.randn(n, 8), {v: [r.randrange(n) for _ in range(r.randint(1, k))] for v in range(n)}
