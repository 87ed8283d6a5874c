"""Distributions of ``torch.distributions`` in; classes that compute the same, written so that loops over them are read,
out. Formulas, and the numbers that are drawn, are PyTorch's own.

Arguments that PyTorch refuses, and values outside of what can be drawn, are left to the loop: here an assertion fails.
The sum of probabilities is held to half of PyTorch's tolerance, as batched sums may differ in their last digits.
"""

from __future__ import annotations

import math
from collections.abc import Container
from typing import Any

import torch


class _OneOfSeveral:
    """One of several, by ``probs``, the probability of each, or ``logits``, their logarithms up to a constant."""

    probs: Any
    logits: Any

    def sample(self):
        return torch.multinomial(self.probs, 1).squeeze(-1)

    def log_prob(self, value):
        assert value.dtype == torch.int64
        return self.logits.gather(-1, value.unsqueeze(-1)).squeeze(-1)

    def entropy(self):
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)


class _OfProbabilities(_OneOfSeveral):
    def __init__(self, probs, validate_args=None):
        self.probs = probs / probs.sum(-1, keepdim=True)
        assert (self.probs >= 0).all()
        assert ((self.probs.sum(-1) - 1).abs() < 5e-7).all()

    @property
    def logits(self):
        smallest = torch.finfo(self.probs.dtype).eps
        return torch.log(self.probs.clamp(min=smallest, max=1 - smallest))


class _OfLogits(_OneOfSeveral):
    def __init__(self, logits, validate_args=None):
        self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        assert (self.logits == self.logits).all()

    @property
    def probs(self):
        return torch.softmax(self.logits, dim=-1)


class _OneOrZero:
    """One or zero, by ``probs``, the probability of one, or ``logits``, the logarithm of its odds."""

    probs: Any
    logits: Any

    def sample(self):
        return torch.bernoulli(self.probs.detach())

    def log_prob(self, value):
        assert ((value == 0) | (value == 1)).all()
        return -torch.nn.functional.binary_cross_entropy_with_logits(self.logits, value, reduction="none")

    def entropy(self):
        return torch.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class _OfOneProbability(_OneOrZero):
    def __init__(self, probs, validate_args=None):
        self.probs = probs
        assert ((probs >= 0) & (probs <= 1)).all()

    @property
    def logits(self):
        smallest = torch.finfo(self.probs.dtype).eps
        clamped = self.probs.clamp(min=smallest, max=1 - smallest)
        return torch.log(clamped) - torch.log1p(-clamped)


class _OfOneLogit(_OneOrZero):
    def __init__(self, logits, validate_args=None):
        self.logits = logits
        assert (logits == logits).all()

    @property
    def probs(self):
        return torch.sigmoid(self.logits)


class _Normal:
    """A number, by its mean and standard deviation."""

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = torch.broadcast_tensors(loc, scale)
        assert (scale > 0).all()
        assert (loc == loc).all()

    @property
    def mean(self):
        return self.loc

    @property
    def stddev(self):
        return self.scale

    def sample(self):
        loc, scale = self.loc.detach(), self.scale.detach()
        return torch.randn(loc.shape, dtype=loc.dtype) * scale + loc

    def rsample(self):
        return self.loc + torch.randn(self.loc.shape, dtype=self.loc.dtype) * self.scale

    def log_prob(self, value):
        assert (value == value).all()
        variance = self.scale**2
        return -((value - self.loc) ** 2) / (2 * variance) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)


METHODS = ("__init__", "sample", "rsample", "log_prob", "entropy")


def twin_of(kind: Any, count: int, names: Container[str]) -> type | None:
    """The twin of a distribution that is made of so many arguments by their places, and of these by name; None of one
    that somebody has changed."""
    if not isinstance(kind, type) or kind.__module__.partition(".")[0] != "torch":
        return None
    from torch import distributions

    if any(not getattr(kind, name).__module__.startswith("torch.") for name in METHODS if hasattr(kind, name)):
        return None
    by_logits = not count and "logits" in names and "probs" not in names
    if kind is distributions.Categorical and count <= 1:
        return _OfLogits if by_logits else _OfProbabilities
    if kind is distributions.Bernoulli and count <= 1:
        return _OfOneLogit if by_logits else _OfOneProbability
    return _Normal if kind is distributions.Normal else None


TWINS = (_OneOfSeveral, _OfProbabilities, _OfLogits, _OneOrZero, _OfOneProbability, _OfOneLogit, _Normal)
"""Of which no object is to be asked for its class."""
