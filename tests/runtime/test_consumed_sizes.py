"""Sizes at which a loop runs as written, where it takes items out of its arguments; comparisons that cost a lot."""

from __future__ import annotations

import time

import pytest

from looplift import lift
from looplift.runtime import dispatch


def emptied(items, total):
    while items:
        total += items.pop()
    return total


def written_slowly(stand_in, seen, **options):
    text = ["seen.append(len(items))", "time.sleep(0.003)", "total = total + sum(items)", "items.clear()"]
    stand_in.answer("emptied", *text, "return total", namespace={"time": time, "seen": seen}, **options)


def test_a_list_that_is_emptied_is_known_by_its_size_before(stand_in):
    seen = []
    written_slowly(stand_in, seen, mutated=["items"])
    lifted = lift(emptied)
    for _ in range(12):
        assert lifted([*range(20)], 5) == 195
    tried = len(seen)
    assert 0 < tried < 12
    for _ in range(30):
        assert lifted([*range(18)], 5) == 158
    assert len(seen) == tried
    assert lifted.report().loops[0].code == "too-small"


def test_other_sizes_are_not_compared_where_that_took_far_longer_than_the_loop(stand_in, monkeypatch):
    compared, seen, verified_call = [], [], dispatch.verified_call

    def watched(*given, **options):
        outcome = verified_call(*given, **options)
        compared.append(outcome)
        outcome.aside = 10.0
        return outcome

    monkeypatch.setattr(dispatch, "verified_call", watched)
    written_slowly(stand_in, seen, mutated=["items"])
    lifted = lift(emptied)
    for size in (4, 20, 100):
        for _ in range(12):
            assert lifted([1] * size, 0) == size
    assert len(compared) == 1 and len(seen) > 3
    assert lifted.report().loops[0].code == "too-small"


@pytest.mark.parametrize("size", [3, 500])
def test_cheap_comparisons_go_on(stand_in, size):
    stand_in.answer("emptied", "total = total + sum(items)", "items.clear()", "return total", mutated=["items"])
    lifted = lift(emptied)
    for _ in range(6):
        assert lifted([2] * size, 1) == 2 * size + 1
