"""Iterators of itertools over ranges that end below where they begin, and over what can be gone through once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.frontend.oracle import check

V = np.arange(10.0) - 3.5


def chained(x, n, m):
    return [x[k] * 2 for k in itertools.chain(range(n), range(m))]


def in_the_middle(x, n, m):
    return [x[k] - k for k in itertools.chain(range(m), range(n), range(m))]


def between_indices(x, n, m):
    total = 0.0
    for i in range(m):
        for j in itertools.chain(range(i - 2), range(i - 1, m)):
            total = total * 0.5 + x[i] * x[j]
    return total


def numbered(x, n, m):
    total = 0.0
    for place, k in enumerate(itertools.chain(range(n), range(m)), 1):
        total += x[k] * place
    return total


def side_by_side(x, n, m):
    total = 0.0
    for v, k in zip(x, itertools.chain(range(m), range(n), range(m))):
        total = total * 0.5 + v * x[k]
    return total


def nested(x, n, m):
    total = 0.0
    for k in itertools.chain(itertools.chain(range(n), range(n)), range(m)):
        total = total * 0.5 + x[k]
    return total


def of_a_chain_and_a_part(x, n, m):
    total = 0.0
    for v in itertools.chain(itertools.islice(x, 2, m), itertools.islice(x, m), x):
        total = total * 0.5 + v
    return total


def of_pairs(x, n, m):
    total = 0.0
    for a, b in itertools.chain(zip(range(n), range(m)), enumerate(range(m))):
        total = total * 0.5 + x[a] * b
    return total


CHAINS = [chained, in_the_middle, between_indices, numbered, side_by_side, nested, of_a_chain_and_a_part, of_pairs]


@pytest.mark.parametrize(("n", "m"), [(-3, 4), (0, 1), (-1, 0), (2, 5)])
@pytest.mark.parametrize("function", CHAINS, ids=lambda one: one.__name__)
def test_a_range_of_a_negative_number_takes_nothing_from_those_behind_it(function, n, m):
    check(function, (V, n, m))
