"""One energy of a graph: a term of each node and one of each of its neighbours, in one sum.

Source: lattice and mesh energies, skip-gram losses with a list of words for each centre
Tags: graph, ragged, reduction, nested
Grad: yes
"""
import random

import torch


def slow(x, near, strength):
    energy = 0
    for i in range(len(near)):
        energy = energy + torch.sum(x[i] ** 2)
        for j in near[i]:
            energy = energy - strength * torch.dot(x[i], x[j])
    return energy / len(near)


def hand(x, near, strength):
    i = torch.repeat_interleave(torch.tensor([len(row) for row in near]))
    j = torch.tensor([node for row in near for node in row], dtype=torch.long)
    return ((x * x).sum() - strength * (x.index_select(0, i) * x.index_select(0, j)).sum()) / len(near)


def inputs(size="small", seed=0):
    n, d = {"tiny": (5, 3), "small": (150, 8), "full": (6000, 16)}[size]
    r = random.Random(seed)
    near = [[r.randrange(n) for _ in range(r.randint(0, 6))] for _ in range(n)]
    near[0] = near[0] or [n - 1]
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed)), near, 0.3
