"""Loss of a variational autoencoder, one sample after the other, with noise of its own for each latent vector.

Source: Auto-Encoding Variational Bayes; training loops that call the model per row
Tags: module-call, random, method-call, reduction
Grad: yes
Hand: no loop
"""

import torch
from torch import nn
from torch.nn import functional


class Autoencoder(nn.Module):
    def __init__(self, size, hidden, latent):
        super().__init__()
        self.body, self.back = nn.Linear(size, hidden), nn.Linear(latent, size)
        self.mean, self.spread = nn.Linear(hidden, latent), nn.Linear(hidden, latent)

    def reparameterize(self, mean, spread):
        std = torch.exp(0.5 * spread)
        eps = torch.randn_like(std)
        return mean + eps * std

    def forward(self, x):
        h = torch.relu(self.body(x))
        mean, spread = self.mean(h), self.spread(h)
        return self.back(self.reparameterize(mean, spread)), mean, spread


def slow(model, data):
    loss = 0.0
    for x in data:
        y, mean, spread = model(x)
        divergence = -0.5 * (1 + spread - mean**2 - spread.exp()).sum()
        loss = loss + functional.mse_loss(y, x, reduction="sum") + divergence
    return loss / len(data)


def hand(model, data):
    y, mean, spread = model(data)
    divergence = -0.5 * (1 + spread - mean**2 - spread.exp()).sum()
    return (functional.mse_loss(y, data, reduction="sum") + divergence) / len(data)


def inputs(size="small", seed=0):
    n = {"tiny": 4, "small": 100, "full": 4000}[size]
    torch.manual_seed(seed)
    return Autoencoder(12, 32, 16), torch.randn(n, 12)
