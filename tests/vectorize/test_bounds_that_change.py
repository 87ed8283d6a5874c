"""A ``while`` that counts up to what its own body changes: the bound is asked anew in each iteration."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check_backends


def down_to_the_middle(x, n):
    left = torch.full((2,), n)
    j = 0
    while j < int(left[1]) and x[j] < 0.95:
        left[1] -= 1
        j += 1
    return j, left


def through_a_view(x, n):
    left = torch.full((2,), n)
    view = left[1:]
    j = 0
    while j < view[0].item() and x[j] < 0.9:
        left[1] -= 2
        j += 1
    return j, left


def of_arrays(x, n):
    left = np.full(3, n)
    j, total = 0, 0.0
    while j <= left[0] and x[j] < 0.9:
        left[0] = left[0] - 1
        total += float(x[j])
        j += 1
    return j, total, left


def with_break(x, n):
    left = torch.full((1,), n)
    j = 0
    while j < int(left[0]):
        if x[j] > 0.9:
            break
        left[0] -= 1
        j += 1
    return j, left


def per_lane(x, n):
    out = torch.zeros(x.shape[0], dtype=torch.int64)
    for i in range(x.shape[0]):
        left = torch.full((1,), n)
        j = 0
        while j < int(left[0]) and x[j] < 0.9:
            left[0] -= 1
            j += 1
        out[i] = j
    return out


def growing(x, n):
    items, j = [0.0], 0
    while j < len(items) and j < n and x[j] < 0.9:
        items.append(x[j] * 2)
        j += 1
    return j, items


def steady(x, n):
    ends = torch.full((1,), n)
    out = torch.zeros(x.shape[0])
    j = 0
    while j < int(ends[0]) and x[j] < 0.95:
        out[j] = x[j] * 2
        j += 1
    return j, out


def steady_length(x, n):
    out = torch.zeros(n)
    j = 0
    while j < out.shape[0] and x[j] < 0.95:
        out[j] = x[j] * 2
        j += 1
    return j, out


CHANGING = (down_to_the_middle, through_a_view, with_break, per_lane, growing)


@pytest.mark.parametrize("function", CHANGING)
def test_changing_bounds(function):
    x = torch.zeros(12)
    check_backends(function, [x, 10], [x, 7], [torch.tensor([0.0, 0.0, 0.92, 0.99, 0.0, 0.0]), 6], kept={"torch"})


def test_changing_bounds_of_arrays():
    check_backends(of_arrays, [np.zeros(12), 9], [np.array([0.1, 0.0, 0.95, 0.0, 0.0]), 4], kept={"torch"})


@pytest.mark.parametrize("function", [steady, steady_length])
def test_bounds_that_stay_are_read_once(function):
    check_backends(function, [torch.zeros(12), 10], [torch.tensor([0.0, 0.5, 0.2, 0.99, 0.0]), 5])
