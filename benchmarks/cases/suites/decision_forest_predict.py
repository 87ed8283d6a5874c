"""Votes of a forest of decision trees kept as node objects, sample by sample.

Source: prediction with random forests
Tags: tree, objects, while
Grad: no
Hand: loop over depth
"""
import random
import numpy as np
import torch


class Node:
    __slots__ = ("feature", "threshold", "left", "right", "value")

    def __init__(self, feature=None, threshold=None, left=None, right=None, value=None):
        self.feature, self.threshold, self.left, self.right, self.value = feature, threshold, left, right, value


def slow(forest, X, classes):
    out = torch.zeros(len(X), dtype=torch.long)
    for i in range(len(X)):
        votes = [0] * classes
        for tree in forest:
            node = tree
            while node.value is None:
                if X[i, node.feature] <= node.threshold:
                    node = node.left
                else:
                    node = node.right
            votes[node.value] += 1
        best = 0
        for c in range(1, classes):
            if votes[c] > votes[best]:
                best = c
        out[i] = best
    return out


def hand(forest, X, classes):
    nodes, index = [], {}

    def add(n):
        index[id(n)] = len(nodes)
        nodes.append(n)
        if n.value is None:
            add(n.left); add(n.right)

    for t in forest:
        add(t)
    f = torch.tensor([n.feature if n.value is None else 0 for n in nodes])
    th = torch.tensor([n.threshold if n.value is None else 0.0 for n in nodes], dtype=X.dtype)
    l = torch.tensor([index[id(n.left)] if n.value is None else i for i, n in enumerate(nodes)])
    r = torch.tensor([index[id(n.right)] if n.value is None else i for i, n in enumerate(nodes)])
    leaf = torch.tensor([n.value is not None for n in nodes])
    val = torch.tensor([n.value if n.value is not None else 0 for n in nodes])
    at = torch.tensor([index[id(t)] for t in forest]).expand(len(X), -1)
    while not leaf[at].all():
        go = X.gather(1, f[at]) <= th[at]
        at = torch.where(leaf[at], at, torch.where(go, l[at], r[at]))
    votes = torch.nn.functional.one_hot(val[at], classes).sum(1)
    return votes.argmax(1)


def inputs(size="small", seed=0):
    n, trees, depth = {"tiny": (4, 2, 2), "small": (200, 10, 5), "full": (800, 30, 8)}[size]
    rng = random.Random(seed)
    g = torch.Generator().manual_seed(seed)

    def grow(d):
        if d == 0 or rng.random() < 0.1:
            return Node(value=rng.randrange(3))
        return Node(rng.randrange(6), rng.gauss(0, 1), grow(d - 1), grow(d - 1))

    return [grow(depth) for _ in range(trees)], torch.randn(n, 6, generator=g, dtype=torch.float64), 3
