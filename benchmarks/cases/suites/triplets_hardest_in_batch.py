"""Batch-hard triplet loss: per anchor the farthest of its class and the closest of others, anchors without either skipped.

Source: batch-hard triplet losses of metric learning
Tags: ragged, loss
Grad: yes
Hand: no loop
"""
import torch


def slow(emb, labels, margin):
    losses = []
    for i in range(len(emb)):
        hardest_pos, hardest_neg = None, None
        for j in range(len(emb)):
            if i == j:
                continue
            d = torch.norm(emb[i] - emb[j])
            if labels[i] == labels[j]:
                if hardest_pos is None or d > hardest_pos:
                    hardest_pos = d
            else:
                if hardest_neg is None or d < hardest_neg:
                    hardest_neg = d
        if hardest_pos is not None and hardest_neg is not None:
            losses.append(torch.relu(hardest_pos - hardest_neg + margin))
    if not losses:
        return emb.sum() * 0
    return torch.stack(losses).mean()


def hand(emb, labels, margin):
    n = len(emb)
    d = torch.cdist(emb, emb, compute_mode="donot_use_mm_for_euclid_dist")
    same = labels[:, None] == labels[None]
    eye = torch.eye(n, dtype=torch.bool)
    pos, neg = same & ~eye, ~same
    ok = pos.any(1) & neg.any(1)
    hp = d.masked_fill(~pos, -1).amax(1)
    hn = d.masked_fill(~neg, torch.inf).amin(1)
    return torch.relu(hp - hn + margin)[ok].mean()


def inputs(size="small", seed=0):
    n, d, c = {"tiny": (5, 2, 2), "small": (40, 8, 5), "full": (200, 64, 20)}[size]
    g = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, generator=g, dtype=torch.float64).requires_grad_(), torch.randint(0, c, (n,), generator=g), 0.3
