"""NaN beside None in containers: an item equals itself there, though no number."""

from dataclasses import dataclass

import pytest
from strictly import same

NAN = float("nan")


@dataclass
class Reading:
    value: object = None
    count: int = 0


def found(xs):
    n = 0
    for x in xs:
        n = n * 3 % 1000003 + (1 if x in xs else 0) + 10 * xs.count(x)
    return n


def placed(xs):
    out = []
    for x in xs:
        out.append(xs.index(x))
    return out


def equal_tuples(rows):
    n = 0
    for a in rows:
        for b in rows:
            n = n * 2 % 1000003 + (a == b)
    return n


def equal_lists(xs):
    n = 0
    for x in xs:
        for y in xs:
            n = n * 2 % 1000003 + ([x, None] == [y, None]) + (x == y)
    return n


def as_keys(xs):
    seen = {}
    for x in xs:
        seen[x] = seen.get(x, 0) + 1
    return list(seen.values())


def removed(xs):
    out = []
    for k in range(2):
        x = xs[k + 1]
        xs.remove(x)
        xs.append(x)
        out.append(len(xs))
    return out, xs[-1] is None


VALUES = [[None, NAN, 1.0, None], [NAN, None, NAN, float("nan"), 2.0], [None, 1.0, 2.0, 1.0], [1.0, None, NAN]]


@pytest.mark.parametrize("function", [found, placed, equal_lists, as_keys, removed])
def test_items_are_found_by_identity(function):
    same(function, *((xs,) for xs in VALUES))


def test_tuples_and_objects_are_compared_by_items():
    same(equal_tuples, *(([(x, 1) for x in xs],) for xs in VALUES))
    same(equal_tuples, *(([Reading(x, 0) for x in xs],) for xs in VALUES))


def test_numbers_or_none_are_found_by_compiled_code():
    same(found, (VALUES[2],), decisions={"native"})
