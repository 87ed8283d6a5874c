"""Discounted returns of every episode, put in front of a list while the rewards are read backwards, then normalised.

Source: REINFORCE as in the examples of PyTorch (returns.insert(0, R))
Tags: scan, sequential, nested, append-stack, conditional
Grad: yes
"""
import torch


def slow(rewards, dones, gamma):
    rows = []
    for e in range(rewards.shape[0]):
        total = torch.zeros((), dtype=rewards.dtype)
        returns = []
        for t in reversed(range(rewards.shape[1])):
            if dones[e, t]:
                total = torch.zeros((), dtype=rewards.dtype)
            total = rewards[e, t] + gamma * total
            returns.insert(0, total)
        row = torch.stack(returns)
        rows.append((row - row.mean()) / (row.std() + 1e-8))
    return torch.stack(rows)


def hand(rewards, dones, gamma):
    keep = gamma * (~dones).to(rewards.dtype)
    total = torch.zeros(rewards.shape[0], dtype=rewards.dtype)
    columns = []
    for r, k in zip(rewards.unbind(1)[::-1], keep.unbind(1)[::-1]):
        total = torch.addcmul(r, k, total)
        columns.append(total)
    out = torch.stack(columns[::-1], 1)
    return (out - out.mean(1, keepdim=True)) / (out.std(1, keepdim=True) + 1e-8)


def inputs(size="small", seed=0):
    E, T = {"tiny": (3, 6), "small": (12, 60), "full": (64, 400)}[size]
    g = torch.Generator().manual_seed(seed)
    return torch.randn(E, T, generator=g, dtype=torch.float64), torch.rand(E, T, generator=g) < 0.05, 0.97
