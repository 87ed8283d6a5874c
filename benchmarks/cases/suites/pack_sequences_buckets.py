"""Greedy packing of sequences into rows of a fixed length, with segment ids and positions, then a mask per row.

Source: packing of sequences for language models
Tags: ragged, greedy, list
Grad: no
Hand: the packing, in Python
"""
import random
import torch


def slow(seqs, width, pad):
    rows = []
    for seq in sorted(seqs, key=len, reverse=True):
        for row in rows:
            if row["used"] + len(seq) <= width:
                break
        else:
            row = {"used": 0, "items": []}
            rows.append(row)
        row["items"].append(seq)
        row["used"] += len(seq)
    tokens = torch.full((len(rows), width), pad)
    segments = torch.zeros(len(rows), width, dtype=torch.long)
    positions = torch.zeros(len(rows), width, dtype=torch.long)
    for r, row in enumerate(rows):
        at = 0
        for s, seq in enumerate(row["items"]):
            for k, token in enumerate(seq):
                tokens[r, at] = token
                segments[r, at] = s + 1
                positions[r, at] = k
                at += 1
    mask = torch.zeros(len(rows), width, width, dtype=torch.bool)
    for r in range(len(rows)):
        for i in range(width):
            for j in range(i + 1):
                mask[r, i, j] = segments[r, i] != 0 and segments[r, i] == segments[r, j]
    return tokens, segments, positions, mask


def hand(seqs, width, pad):
    rows = []
    for seq in sorted(seqs, key=len, reverse=True):
        for row in rows:
            if row[0] + len(seq) <= width:
                break
        else:
            row = [0, []]
            rows.append(row)
        row[1].append(seq)
        row[0] += len(seq)
    z = lambda u: [0] * (width - u)
    tokens = torch.tensor([sum(it, []) + [pad] * (width - u) for u, it in rows])
    segments = torch.tensor([[s + 1 for s, q in enumerate(it) for _ in q] + z(u) for u, it in rows])
    positions = torch.tensor([[k for q in it for k in range(len(q))] + z(u) for u, it in rows])
    mask = (segments[:, :, None] == segments[:, None]) & (segments != 0)[:, :, None]
    return tokens, segments, positions, mask & torch.ones(width, width, dtype=torch.bool).tril()


def inputs(size="small", seed=0):
    n, w = {"tiny": (4, 6), "small": (30, 32), "full": (60, 64)}[size]
    rng = random.Random(seed)
    return [[rng.randrange(1, 99) for _ in range(rng.randrange(1, w + 1))] for _ in range(n)], w, 0
