"""Options of calls are evaluated in Python's order: after what they stand behind, before that is gone through."""

import collections

import numpy as np
import pytest
from strictly import same


def shrunk(xs):
    xs.append(len(xs) * 7 % 5)
    return len(xs) % 2 == 0


def length(xs):
    xs.appendleft(len(xs) + 20)
    return 4


def in_turn(xs):
    found = []
    for _ in range(4):
        found.append(sorted(xs, reverse=shrunk(xs)))
        found.append(sorted([x + 1 for x in xs], key=lambda x: -x, reverse=shrunk(xs)))
    return found


def by_number(xs, down):
    found = []
    for k in range(4):
        found.append(sorted((x * 3 % 7 for x in xs), reverse=down))
        found.append(sorted(xs, reverse=k % 2 == 0))
    return found


def in_place(xs):
    found, down = [], False

    def key(x):
        nonlocal down
        down = not down
        return x % 5

    for _ in range(4):
        xs.sort(key=key, reverse=down)
        found += xs
    return found


def latest(xs):
    found = []
    for _ in range(4):
        found.append(list(collections.deque(xs, maxlen=length(xs))))
        found.append(list(collections.deque(xs, length(xs))))
        found.append(list(collections.deque(maxlen=length(xs))))
        found.append(list(collections.deque([2 * x for x in xs], maxlen=len(xs) - 2)))
    return found


def fresh(xs):
    found = []
    for _ in range(2):
        found.append(np.full(xs.pop(), xs.pop() * 0.5))
        found.append(np.full(fill_value=xs.pop() * 0.5, shape=(xs.pop(),)))
    return found


def keyed_with_names(xs):
    found = []
    for _ in range(2):
        found += sorted(xs, key=lambda v, *, sign=-1: v * sign)
        found += sorted(xs, key=lambda v, **more: v + len(more))
    return found


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (in_turn, ([3, 1, 2],)),
        (by_number, ([3, 1, 2], True)),
        (by_number, ([3, 1, 2], 0)),
        (by_number, ([3, 1, 2], 0.5)),
        (by_number, ([3, 1, 2], None)),
        (in_place, ([13, 4, 8, 21],)),
        (latest, (collections.deque([3, 1, 2]),)),
        (fresh, ([2, 3, 1, 2, 4, 3, 2, 3, 1, 2],)),
        (keyed_with_names, ([3, 1, 2],)),
    ],
)
def test_options(function, arguments):
    same(function, arguments)
