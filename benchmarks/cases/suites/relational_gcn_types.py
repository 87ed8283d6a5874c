"""R-GCN layer: an edge list with relation types, a weight per relation, normalised by in-degree of the relation.

Source: relational graph convolutions
Tags: graph
Grad: yes
Hand: loop over relations
"""
import random
import torch


class Layer(torch.nn.Module):
    def __init__(self, relations, size):
        super().__init__()
        self.rel = torch.nn.ModuleList([torch.nn.Linear(size, size, bias=False) for _ in range(relations)])
        self.own = torch.nn.Linear(size, size)

    def forward(self, x, triples):
        n = x.size(0)
        count = {}
        for s, r, d in triples:
            count[(d, r)] = count.get((d, r), 0) + 1
        out = [self.own(x[v]) for v in range(n)]
        for s, r, d in triples:
            out[d] = out[d] + self.rel[r](x[s]) / count[(d, r)]
        return torch.relu(torch.stack(out))


def slow(layer, x, triples):
    return layer(x, triples)


def hand(layer, x, triples):
    t = torch.tensor(triples, dtype=torch.long).reshape(-1, 3)
    n, R = x.size(0), len(layer.rel)
    key = t[:, 2] * R + t[:, 1]
    count = torch.zeros(n * R, dtype=x.dtype).index_add_(0, key, torch.ones(len(key), dtype=x.dtype))
    out = layer.own(x)
    for r in range(R):
        m = t[:, 1] == r
        s, d = t[m, 0], t[m, 2]
        out = out.index_add(0, d, layer.rel[r](x[s]) / count[key[m]][:, None])
    return torch.relu(out)


def inputs(size="small", seed=0):
    n, m, R, d = {"tiny": (4, 6, 2, 3), "small": (50, 200, 4, 16), "full": (600, 4000, 8, 32)}[size]
    torch.manual_seed(seed)
    rng = random.Random(seed)
    layer = Layer(R, d).double()
    return layer, torch.randn(n, d, dtype=torch.float64, requires_grad=True), [(rng.randrange(n), rng.randrange(R), rng.randrange(n)) for _ in range(m)]
