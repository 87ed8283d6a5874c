"""Margin loss of translated embeddings: every triple against its own negative tails, as many as it has.

Source: TransE, Translating Embeddings for Modeling Multi-relational Data
Tags: graph, ragged, gather, embedding, append-stack
Grad: yes
Hand: no loop
"""
import random
import torch
from torch import nn


def slow(entities, relations, triples, negatives, margin):
    losses = []
    for (h, r, t), tails in zip(triples, negatives):
        good = torch.norm(entities.weight[h] + relations.weight[r] - entities.weight[t], p=1)
        for other in tails:
            bad = torch.norm(entities.weight[h] + relations.weight[r] - entities.weight[other], p=1)
            losses.append(torch.clamp(margin + good - bad, min=0))
    return torch.stack(losses).mean()


def hand(entities, relations, triples, negatives, margin):
    h, r, t = torch.tensor(triples).T
    counts = torch.tensor([len(tails) for tails in negatives])
    query = entities(h) + relations(r)
    good = (query - entities(t)).abs().sum(1)
    row = torch.repeat_interleave(counts)
    other = torch.tensor([tail for tails in negatives for tail in tails])
    bad = (query.index_select(0, row) - entities(other)).abs().sum(1)
    return torch.clamp(margin + good.index_select(0, row) - bad, min=0).mean()


def inputs(size="small", seed=0):
    n, d, e = {"tiny": (4, 3, 4), "small": (20, 6, 60), "full": (400, 32, 2500)}[size]
    torch.manual_seed(seed)
    rng = random.Random(seed)
    triples = [(rng.randrange(n), rng.randrange(3), rng.randrange(n)) for _ in range(e)]
    negatives = [[rng.randrange(n) for _ in range(rng.randint(1, 4))] for _ in range(e)]
    return nn.Embedding(n, d), nn.Embedding(3, d), triples, negatives, 1.0
