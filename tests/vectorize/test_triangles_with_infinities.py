"""Gradients of loops with fewer iterations in some lanes: what lanes without one would read may be infinite."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def below_the_diagonal(a, p):
    out = torch.zeros(len(a))
    for i in range(len(a)):
        for j in range(i):
            out[i] += a[i, j] * p[j]
    return out


def above_the_diagonal(a, p):
    out = torch.zeros(len(a))
    for i in range(len(a)):
        for j in range(i + 1, len(a)):
            out[i] += (a[i, j] * p[j]).exp()
    return out


def between(a, p):
    total = torch.zeros(())
    for i in range(len(a)):
        for j in range(i):
            total = total + a[i, j] / p[j] * p[i]
    return total


@pytest.mark.parametrize("function", [below_the_diagonal, above_the_diagonal, between])
@pytest.mark.parametrize("place", [(0, 0), (3, 3), (1, 2), (2, 1)])
def test_gradients_are_the_loops(function, place):
    generator = torch.Generator().manual_seed(0)
    a, p = torch.rand(4, 4, generator=generator), torch.rand(4, generator=generator)
    check(function, [a, p])
    a[place] = float("inf")
    compared(function, a, p)


def compared(function, a, p):
    lifted = lift(function, verify="off", backend="torch")
    for _ in range(2):
        found = []
        for run in (lifted, function):
            leaves = [one.clone().requires_grad_() for one in (a, p)]
            run(*leaves).sum().backward()
            found.append([one.grad for one in leaves])
        torch.testing.assert_close(*found, equal_nan=True)
