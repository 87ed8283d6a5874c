"""Integers of Python's that a loop begins with raise beside tensors where 64 bits do not hold them."""

import pytest
import torch

from looplift import lift


def largest(first, x):
    best = first
    for i in range(len(x)):
        best = max(best, x[i])
    return best


def least(first, x):
    best = first
    for i in range(len(x)):
        best = min(x[i], best)
    return best


def place(first, x):
    best, found = first * 2, -1
    for i in range(len(x)):
        if x[i] > best:
            best = x[i]
            found = i
    return best, found


def outcome(function, first, x):
    try:
        return repr(function(first, x))
    except OverflowError as error:
        return repr(error)


FIRST = (2, 2**62, 2**63 - 1, 2**63, 2**64, 2**70, -(2**63), -(2**63) - 1, 2)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [largest, least, place], ids=lambda one: one.__name__)
def test_first_values(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for first in FIRST:
        for x in (torch.tensor([1.0, 2.0]), torch.tensor([1, 2]), torch.zeros(0)):
            assert outcome(lifted, first, x) == outcome(function, first, x)
