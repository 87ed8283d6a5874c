"""`zip(..., strict=True)`: as long as one another, or the loop raises what it raises."""

import copy

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def products(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total = total + a @ b
    return total


def pairs(x, y):
    return [a * b for a, b in zip(x, y, strict=False)]


def strict_pairs(x, y):
    return [a * b for a, b in zip(x, y, strict=True)]


def numbered(x, y, out):
    for i, (a, b) in enumerate(zip(x, y, strict=True)):
        out.append((a, b * i))
    return out


def added(x, y):
    for a, b in zip(x, y, strict=True):
        a += b
    return x


X = torch.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    ("fn", "arguments", "lifts"),
    [
        (products, [X, X + 1], True),
        (products, [X.clone().requires_grad_(), X + 1], True),
        (products, [X, X[:2]], False),
        (pairs, [[1.0, 2.0, 3.0], [4, 5]], True),
        (pairs, [X, X[:2]], True),
        (strict_pairs, [[1.0, 2.0], [4, 5]], True),
        (strict_pairs, [[1.0, 2.0, 3.0], [4, 5]], False),
        (strict_pairs, [[1.0], [4, 5]], False),
        (strict_pairs, [[], []], True),
        (numbered, [["a", "b"], [3, 4], []], True),
        (numbered, [["a", "b", "c"], [3, 4], []], False),
        (added, [np.ones((3, 2)), np.ones((3, 2))], True),
        (added, [np.ones((3, 2)), np.ones((4, 2))], False),
    ],
)
def test_lengths_are_asked(fn, arguments, lifts):
    def run(function, given):
        try:
            return function(*given), given
        except ValueError as error:
            return str(error), given

    lifted = lift(fn, verify="off")
    want, got = run(fn, copy.deepcopy(arguments)), run(lifted, copy.deepcopy(arguments))
    assert difference(got, want) is None
    decisions = [loop.decision for loop in lifted.report().loops]
    assert ("kept" not in decisions) == lifts and (isinstance(want[0], str) or lifts)
