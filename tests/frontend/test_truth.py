"""Sides of `and` and `or` in conditions are asked whether they are true, whatever they are."""

import copy

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def neighbours_alive(g):
    height, width = g.shape
    out = np.zeros_like(g)
    for i in range(height):
        for j in range(width):
            alive = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di or dj:
                        alive += g[(i + di) % height, (j + dj) % width]
            out[i, j] = 1 if alive == 3 or (g[i, j] and alive == 2) else 0
    return out


def flagged(g, x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        if (g[i] and x[i] > 0) or x[i] < -1:
            out[i] = x[i]
        elif (g[i].item() and i == 3) or not (x[i] and g[i]):
            out[i] = 2 * x[i]
    return out


def both(x, y):
    total = 0.0
    for i in range(len(x)):
        total += 1.0 if x[i] and y[i] else (2.0 if x[i] or y[i] else 0.0)
    return total


def lists_that_are_not_empty(x, lists):
    total = 0.0
    for i in range(len(x)):
        if lists[i] and x[i] > 0:
            total = total + x[i]
    return total


def perhaps_masked(x, m):
    total = 0.0
    for i in range(len(x)):
        if m is not None and m[i] and x[i]:
            total = total + x[i]
    return total


def rows_and_numbers(x, m):
    count = 0
    for row in x:
        if row.any() and m:
            count += 1
        if row.sum() > 0 and row.max():
            count += 2
    return count


def counted_down(g, x):
    out, k = np.zeros(len(x)), 0
    for i in range(len(x)):
        if g[i] > 0 and k < 4 and not x[i]:
            k += 1
        if x[i] and k == 2:
            out[i] = k
        while k and x[i]:
            k -= 1
            x[i] -= 1
    return out, k


X = torch.tensor([1.0, -2.0, 0.0, 0.5, torch.nan, -0.0, 3.0])
CASES = [
    (neighbours_alive, np.random.default_rng(0).integers(0, 2, (6, 7))),
    (flagged, torch.tensor([1, 0, 1, 1, 0, 0, 1]) > 0, X),
    (flagged, torch.tensor([1, 0, 1, 1, 0, 0, 1]), X.nan_to_num().requires_grad_()),
    (both, np.array([0, 1, 0, 2]), np.array([0.0, np.nan, -0.0, 0.0])),
    (both, X, X.flip(0)),
    (lists_that_are_not_empty, X[:4], [[1], [], [2, 3], []]),
    (perhaps_masked, X, torch.tensor([1, 0, 1, 1, 0, 0, 1])),
    (perhaps_masked, X, None),
    (rows_and_numbers, torch.randn(5, 3, generator=torch.Generator().manual_seed(0)), 3),
    (counted_down, np.linspace(-1, 1, 12), np.arange(12) % 3),
]


@pytest.mark.parametrize(("fn", "arguments"), [(fn, arguments) for fn, *arguments in CASES])
def test_the_truth_of_a_side_is_that_of_the_loop(fn, arguments):
    theirs, ours = copy.deepcopy(arguments), copy.deepcopy(arguments)
    lifted = lift(fn, verify="off")
    want, got = fn(*theirs), lifted(*ours)
    assert difference(got, want) is None and difference(ours, theirs) is None
    decisions = [loop.decision for loop in lifted.report().loops]
    assert decisions and "kept" not in decisions


@pytest.mark.parametrize("fn", [flagged, perhaps_masked])
def test_the_truth_of_a_row_raises_as_the_loop_does(fn):
    arguments = [torch.ones(3, 2), torch.ones(3)] if fn is flagged else [torch.ones(3), torch.ones(3, 2)]
    with pytest.raises(RuntimeError, match="ambiguous") as want:
        fn(*arguments)
    with pytest.raises(RuntimeError, match="ambiguous") as got:
        lift(fn, verify="off")(*arguments)
    assert str(got.value) == str(want.value)
