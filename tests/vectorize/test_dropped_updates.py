"""Partial results that the loop drops again add nothing: each update counts only where its result is carried on."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check_backends


def taken_under_a_condition(x, c):
    total = torch.tensor(0.5)
    for i in range(x.shape[0]):
        grown = total + x[i] * 2
        if c[i]:
            total = grown
    return total


def one_of_two(x, c):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        more, less = total + x[i], total - x[i]
        total = more if c[i] else less
    return total


def put_back(x, c):
    product = torch.ones(())
    for i in range(x.shape[0]):
        before = product
        product = product * x[i]
        if c[i]:
            product = before
    return product


def continued(x, c):
    count = 0
    for i in range(x.shape[0]):
        more = count + 2
        if not c[i]:
            continue
        count = more
    return count


def inner_sum_taken(x, c):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        before = total
        for j in range(3):
            total = total + x[i] * j
        if c[i]:
            total = before
    return total


def inner_sum_from_the_first(x, c):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        inner = total
        for j in range(3):
            inner = inner + x[i] * j
        total = total + x[i] if c[i] else inner
    return total


def greatest_taken(x, c):
    best = torch.tensor(-1.0)
    for i in range(x.shape[0]):
        passed = torch.maximum(best, x[i])
        if c[i]:
            best = passed
    return best


def per_lane(x, c):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(i + 1):
            grown = total + x[j].item()
            if c[j]:
                total = grown
        out[i] = total
    return out


def counted_by_while(x, c):
    total, i = 0, 0
    while i < x.shape[0]:
        more = total + i
        total = more if c[i] else total
        i += 1
    return total


def rightly_in_turn(x, c):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        total = total + x[i]
        total = total * 1 + 2 if x.ndim > 3 else total
        if c[i]:
            total = total - x[i] * x[i]
        for j in range(2):
            total = total + x[j]
    return total


ONES = (
    taken_under_a_condition, one_of_two, put_back, continued, inner_sum_taken, inner_sum_from_the_first, greatest_taken,
    per_lane, counted_by_while, rightly_in_turn,
)  # fmt: skip


@pytest.mark.parametrize("function", ONES)
def test_dropped_updates(function):
    # what no reduction computes may stay a loop
    kept = {"torch"} if function in (greatest_taken, inner_sum_taken, inner_sum_from_the_first) else set()
    calls = [[torch.rand(5), torch.tensor([True, False, True, True, False])], [torch.rand(3), torch.zeros(3).bool()]]
    check_backends(function, *calls, gradients=function not in (continued, counted_by_while, per_lane), kept=kept)


def test_dropped_updates_of_arrays():
    def taken(x, c):
        total = np.zeros(x.shape[1])
        for i in range(x.shape[0]):
            grown = total + x[i]
            if c[i]:
                total = grown
        return total

    check_backends(taken, [np.random.default_rng(0).normal(size=(4, 3)), np.array([False, True, True, False])])
