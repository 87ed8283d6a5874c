"""Ranges that names hold, that are chosen, cut or turned: programs have lists of their numbers instead."""

from __future__ import annotations

import numpy as np
import pytest

from looplift import lift


def turned(a):
    height, width = a.shape
    for y in range(height):
        for x in reversed(range(width)) if y % 2 else range(width):
            if y + 1 < height:
                a[y + 1, x] += a[y, x] * 0.5 + x
    return a


def cut(a):
    out = []
    for y in range(a.shape[0]):
        columns = range(a.shape[1])
        if y % 2 == 1:
            columns = columns[::-1]
        for x in columns[1:]:
            out.append(a[y, x] * x)
    return out


def levels(a):
    low, steps = range(-2, len(a)), range(0, 9, 4)
    value = {s: 0.0 for s in low}
    for row in a:
        new = {}
        for s in low:
            total = 0.5 * s
            for d, p in zip(steps, row):
                total = total + float(p) * value[max(s - d, -2)]
            new[s] = total
        value = new
    return [value[s] for s in low], low[0], low[-1], len(low), 3 in low, sorted(low, reverse=True), list(steps)


def pairs(a):
    places = range(len(a))
    best = {}
    for i in places:
        for j in places[i + 1 :]:
            best[str(i), j] = abs(i - j) + float(a[i, 0])
    return best


def given_back(a):
    places = range(len(a))
    words = {}
    for i in places:
        words[str(i)] = i * 2
    return words, places


def out_of_range(a):
    places = range(2)
    words = {}
    for i in range(len(a)):
        words[str(i)] = places[i]
    return words


LIFTED = (turned, cut, levels, pairs)


def outcome(function, a):
    try:
        return function(a), a
    except IndexError as error:
        return type(error), str(error), a


@pytest.mark.parametrize("rows", (0, 1, 2, 5))
@pytest.mark.parametrize("function", (*LIFTED, given_back, out_of_range), ids=lambda function: function.__name__)
def test_as_the_loop(function, rows):
    lifted = lift(function, backend="native", verify="off")
    for _ in range(2):
        found, expected = (outcome(f, np.random.default_rng(rows).random((rows, 4))) for f in (lifted, function))
        assert str(found) == str(expected)
        np.testing.assert_array_equal(found[-1], expected[-1])


@pytest.mark.parametrize("function", LIFTED, ids=lambda function: function.__name__)
def test_lifted(function):
    lifted = lift(function, backend="native", verify="off")
    for _ in range(2):
        lifted(np.random.default_rng(0).random((5, 4)))
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def first_of_many(a):
    numbers = range(10**15)
    found = {}
    for row in a:
        for k in numbers:
            if row[0] * k > 3 or k > 40:
                found[str(k)] = k
                break
    return found, len(numbers)


def test_a_long_range_is_no_list():
    a = np.random.default_rng(0).random((3, 2))
    lifted = lift(first_of_many, backend="native", verify="off")
    for _ in range(3):
        assert lifted(a) == first_of_many(a)
