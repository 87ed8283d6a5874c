"""A number that is made of a truth value is the one that held where Python evaluates it."""

import math

import pytest
from strictly import same


def signed(xs):
    out, seen = [], False
    for x in xs:
        seen, before, after = seen or x > 2, +seen, -seen
        out.append((seen, before, after))
    return out


def rounded(xs):
    out, is_odd = [], True
    for x in xs:
        is_odd, a, b, c = x % 2 == 1, round(is_odd), math.floor(is_odd), math.ceil(is_odd)
        out.append((is_odd, a, b, c))
    return out


def around_a_call(xs):
    out, is_on = [], False

    def switch():
        nonlocal is_on
        is_on = not is_on
        return 100

    for x in xs:
        out.append(+is_on * 3 + switch() * x)
    return out


def of_constants(xs):
    out = []
    for x in xs:
        x, a, b = x + 1, 7, -7
        out.append((x, a, b))
    return out


@pytest.mark.parametrize("function", [signed, rounded, around_a_call, of_constants])
def test_numbers_of_truth_values_are_read_in_time(function):
    same(function, ([1, 2, 3, 4],), ([5, 0, 2, 3, 1],), decisions={"native"})
