"""Tuples and lists are compared by the first items that are not equal, with the operator that is written."""

import pytest
from strictly import same


class Lesser:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value


def at_most(pairs):
    count = 0
    for k in range(len(pairs) - 1):
        count += pairs[k] <= pairs[k + 1]
    return count


def at_least(pairs):
    count = 0
    for k in range(len(pairs) - 1):
        count += [pairs[k][1], pairs[k][0]] >= [pairs[k + 1][1], pairs[k + 1][0]]
    return count


def below(pairs):
    count = 0
    for k in range(len(pairs) - 1):
        count += (pairs[k] < pairs[k + 1]) + 10 * (pairs[k] > pairs[k + 1])
    return count


NUMBERS = [(k * 7 % 5, k * 3 % 2) for k in range(9)]
FLOATS = [(float(k % 2), float("nan") if k == 4 else 0.5 * k) for k in range(9)]
TEXTS = [("ab"[k % 2], "xyz"[: k % 3]) for k in range(9)]


@pytest.mark.parametrize("function", [at_most, at_least, below])
@pytest.mark.parametrize("pairs", [NUMBERS, FLOATS, TEXTS])
def test_plain_items(function, pairs):
    if function is at_least and pairs is TEXTS:
        pairs = [(text, text * 2) for text, _ in pairs]
    same(function, (pairs,))


@pytest.mark.parametrize("function", [at_most, below])
def test_items_of_which_the_first_differ(function):
    same(function, ([(k, Lesser(k)) for k in range(4)],))


@pytest.mark.parametrize("function", [at_most, below])
def test_items_of_which_the_first_are_equal(function):
    same(function, ([(1, Lesser(k)) for k in range(4)],))
