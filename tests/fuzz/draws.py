"""Programs that draw random numbers in loops, in loops inside of them and under tests: for sizes that are given, for
what the loop makes, in functions and in modules. The harness looks at what is drawn, and at the generators after it."""

from __future__ import annotations

BEGINS = (
    "h = x[i]", "h = x[i].clone()", "h = torch.randn(3)", "h = torch.zeros(3)", "h = x[i] * torch.rand(())",
    "h = net(x[i])", "h = x[i] + np.random.normal()",
)  # fmt: skip
STEPS = (
    "h = h + torch.randn_like(h) * 0.1", "h = h * torch.rand(())", "h = h + torch.randn(3)",
    "h = h + torch.rand(h.shape)", "e = torch.bernoulli(torch.sigmoid(h))\nh = h * 0.5 + e",
    "h = h + torch.bernoulli(p)", "k = torch.multinomial(torch.softmax(h, 0), 1)\nh = h * 0.5 + k", "h = moved(h)",
    "h = net(h)", "h = box.step(h)", "if t > 0: h = h + torch.randn(3)",
    "h = h + (torch.randn(3) if t % 2 else torch.zeros(3))", "h = torch.nn.functional.dropout(h, 0.3)",
    "d = torch.distributions.Normal(h, h.abs() + 0.1)\nh = d.rsample() * 0.5",
    "d = torch.distributions.Categorical(logits=h)\na = d.sample()\nh = h * 0.5 + d.log_prob(a)\nout.append(a)",
    "d = torch.distributions.Bernoulli(torch.sigmoid(h))\nh = h * 0.5 + d.sample()",
    "if torch.rand(()) < 0.3: h = h * 0.5", "if h.sum() > 2: break", "if h[0] > 0: h = h - torch.rand(())",
    "h = h + np.random.normal()", "h = h + np.random.rand()", "h = h * random.random()",
    "h = h + torch.randint(0, 5, (3,))",
    "noise = torch.randn_like(h)\nnoise *= 0.5\nh = h + noise", "h = h + torch.normal(h, h.abs() + 0.1)",
    "h = h[:2].sum() + torch.randn(3)", "if t == 1: continue", "u = torch.rand(2, 3)\nh = h * 0.5 + u[0] - u[1]",
    "h = h.double().float() + torch.randn_like(h.double()).float()", "h = h * 0.9", "out.append(h.sum())",
    "s = s + torch.randn(1)", "h = h + torch.randn(16).sum()", "h = h + torch.randn(17)[0]",
    "out.append(torch.randn(2))", "h = h + torch.randperm(3)", "c[i] = torch.randn(2)",
    "h = h + x[i] * torch.rand(())",
)  # fmt: skip
INNER = (
    "range(m)", "range(m - 1, -1, -1)", "range(2)", "range(1, m + 1)", "range(0, m, 2)", "range(i + 1)",
    "range(len(p))",
)  # fmt: skip
ENDS = (
    "out.append(h)", "out.append(h.sum())", "total = total + h.sum()", "c[i] = h[:2]",
    "out.append(h + torch.rand(()))",
)  # fmt: skip
RESULTS = (
    "out, total, c, s", "torch.stack([torch.as_tensor(o).sum() for o in out]), total, c", "total, h, c", "s, c, out",
)  # fmt: skip

HEAD = """import random

import numpy as np
import torch


def moved(h):
    return h * 0.9 + 0.3 * torch.randn_like(h)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.drop = torch.nn.Linear(3, 3), torch.nn.Dropout(0.4)

    def forward(self, h):
        return self.drop(torch.tanh(self.layer(h)))


class Box:
    def __init__(self):
        self.scale = 0.5

    def step(self, h):
        return h * self.scale + torch.rand_like(h)


torch.manual_seed(0)
net = Net()EVAL
box = Box()


def program(x, p, n, m, t):
    early = t + m
    out, total, s = [], torch.zeros(()), torch.zeros(1)
    c = torch.zeros(n, 2)
    for i in range(n):
"""
TAIL = """

def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n, m = [(5, 3), (1, 1), (0, 2), (4, 0)][seed % 4]
    x, p = torch.randn(n, 3, generator=g), torch.rand(3, generator=g)
    return x, p, n, m, seed
"""


def _lines(texts, depth):
    return "".join("    " * depth + line + "\n" for text in texts for line in text.split("\n"))


def draws_source(rng):
    """A program of one or two loops that draw, with what is done with the numbers."""
    quiet = [step for step in STEPS if not any(word in step for word in ("break", "continue", "t "))]
    body = [rng.choice(BEGINS)]
    text = HEAD.replace("EVAL", rng.choice(("", "", ".eval()"))) + _lines(body, 2)
    if rng.random() < 0.3:
        text += _lines(rng.sample(quiet, rng.choice((1, 2))), 2)
    if rng.random() < 0.75:
        text += _lines([f"for t in {rng.choice(INNER)}:"], 2) + _lines(rng.sample(STEPS, rng.choice((1, 1, 2, 3))), 3)
    if rng.random() < 0.2:
        text += _lines(["for t in range(2):"], 2) + _lines(rng.sample(quiet, 1), 3)
    text += _lines([rng.choice(ENDS)], 2) + f"    return early, {rng.choice(RESULTS)}\n"
    return text + TAIL
