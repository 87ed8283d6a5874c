"""Log partition function and forward scores of a linear-chain model, the state carried as a row from step to step.

Source: the forward algorithm of a conditional random field, as in many taggers
Tags: dp, sequential, reduction, append
Grad: yes
Hand: loop over time steps
"""
import torch


def slow(emissions, transitions, start):
    alpha = start + emissions[0]
    seen = []
    for t in range(1, emissions.shape[0]):
        alpha = torch.logsumexp(alpha.unsqueeze(1) + transitions, dim=0) + emissions[t]
        seen.append(alpha)
    return torch.logsumexp(alpha, dim=0), torch.stack(seen)


def hand(emissions, transitions, start):
    # products of probabilities, scaled by the greatest of each step
    weights = transitions.exp()
    alpha = start + emissions[0]
    rows = []
    for row in emissions[1:].unbind(0):
        top = alpha.detach().max()
        alpha = ((alpha - top).exp() @ weights).log() + top + row
        rows.append(alpha)
    return torch.logsumexp(alpha, 0), torch.stack(rows)


def inputs(size="small", seed=0):
    t, k = {"tiny": (4, 3), "small": (400, 5), "full": (15000, 6)}[size]
    g = torch.Generator().manual_seed(seed)
    r = lambda *s: torch.randn(*s, generator=g, dtype=torch.float64)
    return r(t, k), r(k, k), r(k)
