"""Bottom-up GRU over trees given as arrays of parents: each node adds its state to what its parent reads.

Source: tree recurrent networks over parent arrays, as in parsers' output
Tags: tree, ragged, module-call, reduction, sequential, append-stack
Grad: yes
Hand: loop over heights
"""

import random
from collections import defaultdict
import torch
from torch import nn


class TreeGRU(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.cell = nn.GRUCell(d, d)
        self.d = d


def slow(m, feats, parents):
    # parents[i] > i, root has -1; bottom-up
    roots = []
    for x, parent in zip(feats, parents):
        n = len(parent)
        acc = [torch.zeros(m.d) for _ in range(n)]
        h = [None] * n
        for i in range(n):
            h[i] = m.cell(x[i].unsqueeze(0), acc[i].unsqueeze(0)).squeeze(0)
            if parent[i] >= 0:
                acc[parent[i]] = acc[parent[i]] + h[i]
        roots.append(h[n - 1])
    return torch.stack(roots)


def hand(m, feats, parents):
    off = 0
    par = []
    depth = []
    rt = []
    for p in parents:
        n = len(p)
        hgt = [0] * n
        for i in range(n):
            if p[i] >= 0:
                hgt[p[i]] = max(hgt[p[i]], hgt[i] + 1)
        par += [off + q if q >= 0 else -1 for q in p]
        depth += hgt
        off += n
        rt.append(off - 1)
    X = torch.cat(feats)
    acc = torch.zeros(off, m.d)
    H = torch.zeros(off, m.d)
    by = defaultdict(list)
    for i, k in enumerate(depth):
        by[k].append(i)
    for k in sorted(by):
        ix = torch.tensor(by[k])
        h = m.cell(X[ix], acc[ix])
        H = H.index_copy(0, ix, h)
        src = [q for q, i in enumerate(by[k]) if par[i] >= 0]
        if src:
            acc = acc.index_add(0, torch.tensor([par[by[k][q]] for q in src]), h[torch.tensor(src)])
    return H[torch.tensor(rt)]


def inputs(size="small", seed=0):
    n, hi = {"tiny": (3, 4), "small": (10, 12), "full": (120, 30)}[size]
    torch.manual_seed(seed)
    r = random.Random(seed)
    fs, ps = [], []
    for _ in range(n):
        k = r.randint(1, hi)
        ps.append([r.randint(i + 1, k - 1) if i < k - 1 else -1 for i in range(k)])
        fs.append(torch.randn(k, 6))
    return TreeGRU(6), fs, ps
