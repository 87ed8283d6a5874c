"""Losses by elements in, functions that a typed program calls for them out.

They are written as PyTorch computes them. Where a slope is none of the formula's, as where a probability is 0 or 1, an
assertion fails and the loop runs.
"""

from __future__ import annotations

import torch
from torch.nn import functional


def mse_loss(x, y):
    return (x - y) * (x - y)


def l1_loss(x, y):
    return torch.abs(x - y)


def smooth_l1_loss(x, y, beta):
    assert beta > 0
    z = torch.abs(x - y)
    total = z.sum()
    assert total - total == 0
    low = z.clamp(max=beta)
    return 0.5 * low * low / beta + (z - low)


def huber_loss(x, y, delta):
    assert delta > 0
    z = torch.abs(x - y)
    total = z.sum()
    assert total - total == 0
    low = z.clamp(max=delta)
    return 0.5 * low * low + delta * (z - low)


def binary_cross_entropy(x, y):
    assert x.min() * (1 - x.max()) > 1e-12 and y.min() >= 0 and y.max() <= 1
    return (y - 1) * torch.log1p(-x) - y * torch.log(x)


def binary_cross_entropy_with_logits(x, y):
    return (1 - y) * x - functional.logsigmoid(x)


def of_vectors(x, y):
    assert x.shape[0] == y.shape[0]
    return x


def of_matrices(x, y):
    assert x.shape[0] == y.shape[0] and x.shape[1] == y.shape[1]
    return x


SIZES = {1: of_vectors, 2: of_matrices}
"""What gives its first operand, where both have the same sizes, by rank."""

OF_ELEMENTS = {
    "mse_loss": (mse_loss, {}), "l1_loss": (l1_loss, {}), "smooth_l1_loss": (smooth_l1_loss, {"beta": 1.0}),
    "huber_loss": (huber_loss, {"delta": 1.0}), "binary_cross_entropy": (binary_cross_entropy, {}),
    "binary_cross_entropy_with_logits": (binary_cross_entropy_with_logits, {}),
}  # fmt: skip
"""Losses and what else they take, with its default."""
