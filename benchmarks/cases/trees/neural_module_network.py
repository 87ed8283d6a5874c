"""Programs as nested tuples pick a module for each operation and run it on the results of their arguments.

Source: Neural module networks (Andreas et al.)
Tags: tree, recursion, module-call, dict, conditional
Grad: yes
Hand: loop over heights and operations
"""

import random
from collections import defaultdict
import torch
from torch import nn


class NMN(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.mods = nn.ModuleDict(
            {"find": nn.Linear(d, d), "and": nn.Linear(2 * d, d), "or": nn.Linear(2 * d, d), "not": nn.Linear(d, d)}
        )
        self.out = nn.Linear(d, 2)

    def run(self, prog, img):
        op = prog[0]
        if op == "find":
            return torch.tanh(self.mods["find"](img[prog[1]]))
        args = [self.run(p, img) for p in prog[1:]]
        return torch.tanh(self.mods[op](torch.cat(args)))


def slow(m, progs, imgs):
    return torch.stack([m.out(m.run(p, x)) for p, x in zip(progs, imgs)])


def hand(m, progs, imgs):
    lv = []

    def go(p, b):
        if p[0] == "find":
            k = (0, "find", [(b, p[1])])
        else:
            a = [go(q, b) for q in p[1:]]
            k = (max(x[0] for x in a) + 1, p[0], a)
        while len(lv) <= k[0]:
            lv.append(defaultdict(list))
        lv[k[0]][k[1]].append(k[2])
        return (k[0], k[1], len(lv[k[0]][k[1]]) - 1)

    roots = [go(p, b) for b, p in enumerate(progs)]
    where = {}
    pool = None
    st = 0
    for level in lv:
        new = []
        for op, calls in level.items():
            if op == "find":
                x = imgs[torch.tensor([c[0][0] for c in calls]), torch.tensor([c[0][1] for c in calls])]
            else:
                x = pool[torch.tensor([where[a[0], a[1]] + a[2] for c in calls for a in c])].view(len(calls), -1)
            where[lv.index(level), op] = st
            st += len(calls)
            new.append(torch.tanh(m.mods[op](x)))
        pool = torch.cat(([pool] if pool is not None else []) + new)
    return m.out(pool[torch.tensor([where[a, b] + c for a, b, c in roots])])


def inputs(size="small", seed=0):
    n, dep = {"tiny": (3, 2), "small": (16, 4), "full": (250, 5)}[size]
    torch.manual_seed(seed)
    r = random.Random(seed)

    def grow(d):
        if d == 0 or r.random() < 0.2:
            return ("find", r.randrange(5))
        op = r.choice(["and", "or", "not"])
        return (op, grow(d - 1)) if op == "not" else (op, grow(d - 1), grow(d - 1))

    return NMN(8), [grow(dep) for _ in range(n)], torch.randn(n, 5, 8)
