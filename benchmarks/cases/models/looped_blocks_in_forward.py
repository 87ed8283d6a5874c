"""A network called once whose blocks run token by token: all the loops are in the forward of the modules.

Source: pre-norm feed-forward blocks of a transformer, written per token
Tags: nn.Module, module-call, append-stack, nested
Grad: yes
Hand: no loop
"""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.up = nn.Linear(d, 2 * d)
        self.down = nn.Linear(2 * d, d)

    def forward(self, x):
        out = []
        for t in range(x.shape[0]):
            out.append(x[t] + self.down(nn.functional.gelu(self.up(self.norm(x[t])))))
        return torch.stack(out)


class Network(nn.Module):
    def __init__(self, d, depth, classes):
        super().__init__()
        self.blocks = nn.ModuleList([Block(d) for _ in range(depth)])
        self.head = nn.Linear(d, classes)

    def forward(self, batch):
        logits = []
        for x in batch:
            for block in self.blocks:
                x = block(x)
            logits.append(self.head(x.mean(dim=0)))
        return torch.stack(logits)


def slow(model, batch):
    return model(batch)


def hand(model, batch):
    x = batch
    for b in model.blocks:
        x = x + b.down(nn.functional.gelu(b.up(b.norm(x))))
    return model.head(x.mean(1))


def inputs(size="small", seed=0):
    B, T, d = {"tiny": (2, 3, 4), "small": (6, 10, 8), "full": (24, 48, 32)}[size]
    torch.manual_seed(seed)
    return Network(d, 2, 5), torch.randn(B, T, d)
