"""A deque that changes while it is gone through raises, backwards and in columns, too."""

import collections

import pytest
from strictly import same


def backwards(xs, limit):
    total = 0
    for x in reversed(xs):
        total += x
        if x > limit:
            xs.append(x)
    return total


def backwards_beside(xs, limit):
    total = 0
    for x, y in zip(range(3), reversed(xs)):
        total += x * y
        if y > limit:
            xs.popleft()
    return total


def in_columns(rows, limit):
    total = 0
    for a, b in zip(*rows):
        total += a * b
        if a > limit:
            rows[1].append(a)
    return total


@pytest.mark.parametrize("limit", [0, 2, 3, 9])
def test_deques(limit):
    same(backwards, (collections.deque([3, 1, 2]), limit))
    same(backwards_beside, (collections.deque([3, 1, 2]), limit))
    same(in_columns, ([collections.deque([3, 1, 2]), collections.deque([5, 6, 7])], limit))
