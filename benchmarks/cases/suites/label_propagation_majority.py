"""Semi-supervised label propagation with clamped labels; nodes as objects with neighbour objects.

Source: label propagation over weighted graphs
Tags: graph, objects
Grad: no
Hand: loop over rounds
"""
import random
import torch


class Node:
    def __init__(self, label, scores):
        self.label = label
        self.scores = scores
        self.edges = []

    def add(self, other, weight):
        self.edges.append((other, weight))


def slow(nodes, classes, rounds):
    for _ in range(rounds):
        fresh = []
        for node in nodes:
            if node.label is not None:
                fresh.append([1.0 if c == node.label else 0.0 for c in range(classes)])
                continue
            total = [0.0] * classes
            norm = 0.0
            for other, w in node.edges:
                norm += w
                for c in range(classes):
                    total[c] += w * other.scores[c]
            if norm > 0:
                total = [t / norm for t in total]
            fresh.append(total)
        for node, s in zip(nodes, fresh):
            node.scores = s
    return torch.tensor([max(range(classes), key=lambda c: node.scores[c]) for node in nodes]), torch.tensor([n.scores for n in nodes])


def hand(nodes, classes, rounds):
    n = len(nodes)
    pos = {id(v): i for i, v in enumerate(nodes)}
    W = torch.zeros(n, n, dtype=torch.float64)
    for i, v in enumerate(nodes):
        for u, w in v.edges:
            W[i, pos[id(u)]] += w
    norm = W.sum(1, keepdim=True)
    W = W / torch.where(norm > 0, norm, torch.ones_like(norm))
    S = torch.tensor([v.scores for v in nodes], dtype=torch.float64)
    known = torch.tensor([v.label is not None for v in nodes])
    L = torch.zeros(n, classes, dtype=torch.float64)
    for i, v in enumerate(nodes):
        if v.label is not None:
            L[i, v.label] = 1
    for _ in range(rounds):
        S = torch.where(known[:, None], L, W @ S)
    for v, s in zip(nodes, S.tolist()):
        v.scores = s
    return S.argmax(1), S.float()


def inputs(size="small", seed=0):
    n, c, rounds = {"tiny": (5, 2, 2), "small": (80, 4, 10), "full": (150, 6, 80)}[size]
    rng = random.Random(seed)
    nodes = [Node(rng.randrange(c) if rng.random() < 0.2 else None, [0.0] * c) for _ in range(n)]
    for v in nodes:
        for _ in range(rng.randrange(1, 6)):
            v.add(nodes[rng.randrange(n)], rng.random())
    return nodes, c, rounds
