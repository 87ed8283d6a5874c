"""What a kernel keeps for its backward pass: it goes backward as often as the loop, and minds the same changes."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
import torch

from looplift import lift


def apart(x, w):
    h = torch.zeros(())
    k = torch.zeros(())
    for i in range(x.shape[0]):
        h = torch.tanh(h * x[i])
        k = k * w[i] + w[i]
    return h, k


def squashed(x, w):
    h = torch.zeros(())
    for i in range(x.shape[0]):
        h = torch.tanh(h + x[i])
    return h, w.sum()


def added(x, w):
    h = torch.zeros(())
    for i in range(x.shape[0]):
        h = h + x[i] if h < 1 else h - x[i]
    return h, w.sum()


def quotients(x, w):
    h = torch.zeros(())
    for i in range(x.shape[0]):
        h = h * 2 + x[i] / w[i]
    return h, w.sum()


def inverses(x, w):
    h = torch.zeros(())
    for i in range(x.shape[0]):
        h = torch.tanh(h + 2 / x[i])
    return h, w.sum()


def products(x, w):
    h = torch.zeros(())
    for i in range(x.shape[0]):
        h = h + x[i] * w[i] if h < 100 else h
        h = torch.tanh(h + x[i] * w[i])
    return h, w.sum()


def one_after_the_other(results, x, w):
    for result in results:
        result.backward()


def twice(results, x, w):
    results[0].backward()
    results[0].backward()


def twice_retained(results, x, w):
    (results[0] + results[1]).backward(retain_graph=True)
    (results[0] + results[1]).backward()


def first_changed(results, x, w):
    with torch.no_grad():
        x.add_(1)
    results[0].backward()


def second_changed(results, x, w):
    with torch.no_grad():
        w.add_(1)
    results[0].backward()


PROGRAMS = (apart, squashed, added, quotients, inverses, products)
ENDINGS = (one_after_the_other, twice, twice_retained, first_changed, second_changed)


@pytest.mark.parametrize("asks", [(True, True), (True, False)], ids=["both ask", "the first asks"])
@pytest.mark.parametrize("ending", ENDINGS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_backward_passes_are_possible_where_the_loops_are(program, ending, asks):
    def outcome(function):
        x, w = (torch.linspace(0.3, 1.7, 5).requires_grad_(ask) for ask in asks)
        try:
            ending([result for result in function(x, w) if result.requires_grad] + [x.sum()], x, w)
        except RuntimeError as error:
            return str(error)[:60], x.grad
        return x.grad, w.grad

    lifted = lift(program, backend="native", verify="off")
    got, want = outcome(lifted), outcome(program)
    assert "native" in [loop.decision for loop in lifted.report().loops]
    for ours, theirs in zip(got, want, strict=True):
        same: Callable = torch.allclose if isinstance(theirs, torch.Tensor) else operator.eq
        assert same(ours, theirs), (got, want)
