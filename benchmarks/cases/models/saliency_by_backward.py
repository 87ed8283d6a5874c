"""Saliency of each input: the gradient of the winning class's score by the input, one backward per sample.

Source: deep inside convolutional networks (saliency maps), as tutorials write it
Tags: grad-inside, module-call, store, argmax
Grad: no
Hand: no loop; one backward of the sum of all winning scores
"""
import torch
from torch import nn


def slow(model, X):
    maps = torch.zeros(len(X), X.shape[2], X.shape[3])
    for i in range(len(X)):
        x = X[i].clone().unsqueeze(0).requires_grad_(True)
        model.zero_grad()
        scores = model(x)
        best = scores[0].argmax()
        scores[0, best].backward()
        maps[i] = x.grad[0].abs().max(0)[0]
    model.zero_grad()
    return maps


def hand(model, X):
    x = X.clone().requires_grad_(True)
    scores = model(x)
    (g,) = torch.autograd.grad(scores.max(1)[0].sum(), x)
    return g.abs().max(1)[0]


def inputs(size="small", seed=0):
    n, c, s = {"tiny": (3, 2, 5), "small": (30, 3, 12), "full": (600, 3, 24)}[size]
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Conv2d(c, 4, 3, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(4 * s * s, 10))
    return model, torch.randn(n, c, s, s)
