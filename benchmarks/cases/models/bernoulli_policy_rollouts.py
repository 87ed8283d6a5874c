"""REINFORCE with coins: a policy is asked in each step of each episode, and a coin decides; log-probabilities times gains.

Source: Williams, Simple statistical gradient-following algorithms; toy dynamics
Tags: random, sequential, module-call, nested, append-stack, distribution
Grad: yes
Hand: loop over steps
"""

import torch
from torch import nn


def slow(policy, starts, steps):
    scores = []
    for s in starts:
        logs, gain = 0.0, 0.0
        for _ in range(steps):
            coin = torch.distributions.Bernoulli(torch.sigmoid(policy(s))[0])
            action = coin.sample()
            logs = logs + coin.log_prob(action)
            s = 0.9 * s + 0.2 * (action - 0.5)
            gain = gain - (s * s).sum()
        scores.append(logs * gain.detach())
    return -torch.stack(scores).mean()


def hand(policy, starts, steps):
    numbers = torch.rand(len(starts), steps)
    s, logs, gain = starts, 0.0, 0.0
    for t in range(steps):
        p = torch.sigmoid(policy(s))[:, 0]
        action = (numbers[:, t] < p).to(p.dtype)
        eps = torch.finfo(p.dtype).eps
        q = p.clamp(eps, 1 - eps)
        logits = q.log() - torch.log1p(-q)
        logs = logs - nn.functional.binary_cross_entropy_with_logits(logits, action, reduction="none")
        s = 0.9 * s + 0.2 * (action[:, None] - 0.5)
        gain = gain - (s * s).sum(1)
    return -(logs * gain.detach()).mean()


def inputs(size="small", seed=0):
    n, steps = {"tiny": (3, 2), "small": (20, 10), "full": (250, 25)}[size]
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)), torch.randn(n, 4), steps
