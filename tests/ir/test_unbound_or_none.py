"""Names that are None at times and not bound at others: asked whether they are None they raise where they are not."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check_backends


def asked_at_once(x):
    count = 0
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            hit = None
        if hit is None:
            count += 1
    return count


def with_values(x):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            hit = None
        elif x[i] > 0.3:
            hit = x[i]
        if hit is not None:
            total = total + hit
    return total


def of_the_iteration_before(x):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if i > 0:
            out[i] = 1.0 if last is None else 2.0  # noqa: F821
        if x[i] > 0.3:
            last = None  # noqa: F841
    return out


def behind_the_loop(x):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        hit = None if x[i] > 0.5 else x[i]
        total = total + x[i]
    if hit is None:
        return total
    return total + hit


def always_bound(x):
    count = 0
    for i in range(x.shape[0]):
        hit = None
        for j in range(x.shape[0]):
            if x[j] > x[i] + 0.1:
                hit = x[j]
        if hit is None:
            count += 1
    return count


@pytest.mark.parametrize("function", [asked_at_once, with_values, of_the_iteration_before, behind_the_loop])
def test_names_that_are_not_bound_are_not_none(function):
    calls = [[torch.tensor(numbers)] for numbers in ([0.9, 0.1, 0.4, 0.2], [0.1, 0.9], [0.2, 0.2, 0.9], [0.4], [])]
    check_backends(function, *calls, kept={"auto", "torch", "native"})


def test_names_that_are_bound_stay_lifted():
    check_backends(always_bound, [torch.tensor([0.9, 0.1, 0.4, 0.2])])
    check_backends(asked_at_once, [torch.tensor([0.9, 0.1, 0.4])])
