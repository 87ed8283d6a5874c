"""Iterators of itertools over ranges that end below where they begin, and over what can be gone through once."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests.frontend.oracle import check

from looplift import lift

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


def of_a_chain(x):
    total = 0.0
    for v in reversed(itertools.chain(x, x)):
        total = total * 0.5 + v
    return total


def of_a_part(x):
    return [v * 2 for v in reversed(itertools.islice(x, 1, 3))]


def of_pairs_to_the_longest(x):
    total = 0.0
    for a, b in reversed(itertools.zip_longest(x, x)):
        total = total * 0.5 + a * b
    return total


def of_an_accumulation(x):
    total = 0.0
    for v in reversed(itertools.accumulate(x)):
        total = total * 0.5 + v
    return total


@pytest.mark.parametrize("function", [of_a_chain, of_a_part, of_pairs_to_the_longest, of_an_accumulation])
def test_what_is_no_sequence_is_not_reversed(function):
    check(function, (V,), kept=True)


def inverse(v):
    return 1.0 / v


def behind_the_first(x):
    return [v + 1 for v in itertools.islice(map(inverse, x), 1, None)]


def from_a_place(x, start=2):
    total = 0.0
    for v in itertools.islice(map(inverse, x), start, len(x)):
        total = total * 0.5 + v
    return total


def every_second(x):
    total = 0.0
    for v in itertools.islice(map(math.sqrt, x), 0, None, 2):
        total = total * 0.5 + v
    return total


def of_numbered_items(x):
    total = 0.0
    for k, v in itertools.islice(enumerate(map(math.sqrt, x)), 1, 3):
        total += k * v
    return total


def of_a_chain_with_calls(x):
    total = 0.0
    for v in itertools.islice(itertools.chain(x, map(math.sqrt, x)), len(x) + 1, None):
        total = total * 0.5 + v
    return total


def up_to_a_place(x):
    total = 0.0
    for v in itertools.islice(map(inverse, x), 2):
        total = total * 0.5 + v
    return total


@pytest.mark.parametrize("items", [[0.0, 1.0, 4.0, 9.0], [-1.0, 2.0, 0.5, 3.0], [1.0, -2.0, 4.0, 0.0]], ids=str)
@pytest.mark.parametrize(
    "function", [behind_the_first, from_a_place, every_second, of_numbered_items, of_a_chain_with_calls, up_to_a_place]
)
def test_items_that_are_passed_over_are_made(function, items):
    check(function, (items,), kept=True)


def noted(x):
    def note(v):
        print(v)
        return v * 2

    total = 0.0
    for v in itertools.islice(map(note, x), 1, None):
        total += v
    return total


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_items_that_are_passed_over_are_printed(backend, capsys):
    noted(V.tolist())
    expected = capsys.readouterr().out
    lift(noted, verify="off", backend=backend)(V.tolist())
    assert capsys.readouterr().out == expected
