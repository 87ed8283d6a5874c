"""What a dict gives where a key is missing is worked out whether or not it is: the loop is the oracle."""

import pytest
from tests.frontend.oracle import outcome

from looplift import lift
from looplift.base.compare import difference


def first_ones(keys, items):
    found = {}
    for i, key in enumerate(keys):
        found.setdefault(key, items[i])
    return found


def taken_out(keys, items):
    left, total = {1: 5, 3: 6}, 0
    for i, key in enumerate(keys):
        total += left.pop(key, 10 // items[i])
    return total, left


def looked_up(keys, items):
    total = 0
    for i, key in enumerate(keys):
        total += {1: 5, 2: 6}.get(key, items[i])
    return total


@pytest.mark.parametrize("fn", [first_ones, taken_out, looked_up])
def test_defaults_raise_where_they_are_not_taken(fn):
    lifted = lift(fn, verify="off")
    for keys, items in [([1, 2, 1], [1, 2, 3]), ([1, 2, 1], [1, 0]), ([1, 1, 1], [0, 2, 3]), ([], [])]:
        assert difference(outcome(lifted, (keys, items)), outcome(fn, (keys, items))) is None
