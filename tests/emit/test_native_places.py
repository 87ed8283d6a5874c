"""Places that are known to be inside of an array need no check: what tells it, and what must not."""

import numpy as np
import pytest

from looplift import lift
from looplift.base.compare import difference


def outcome(function, arguments):
    given = [a.copy() if isinstance(a, np.ndarray | list) else a for a in arguments]
    try:
        return function(*given), given
    except Exception as error:
        return repr(error), given


def by_a_remainder(x, n, m):
    total = 0.0
    for i in range(-n, n):
        total += x[(i * 7) % m] + x[i % len(x)]
    return total


def under_a_condition(x, n, m):
    out = np.zeros(n)
    for i in range(n):
        k = int(x[i] * 10)
        if 0 <= k < n:
            out[k] += 1
        elif not (k < 0 or k >= m):
            out[k] -= 1
    return out


def below_alone(x, n, m):
    out = np.zeros(n)
    for i in range(-2 * n, n):
        if i < n - 1:
            out[i] += x[i]
    return out


def either(x, n, m):
    out = np.zeros(n)
    for i in range(2 * n):
        if i < n or i < m:
            out[i] += 1
    return out


def of_an_equal(x, n, m):
    out = np.zeros(n)
    for i in range(-3, 2 * n):
        if i == m and 0 <= m < n:
            out[i] += x[i]
    return out


def sorted_by_insertion(x, n, m):
    for i in range(1, n):
        key, j = x[i], i
        while j > 0 and x[j - 1] > key:
            x[j] = x[j - 1]
            j -= 1
        x[j] = key
    return x


def runs_below(x, n, m):
    j = m
    total = 0.0
    while j < n:
        total += x[j]
        j += 1
    return total


def changed_in_between(x, n, m):
    out = np.zeros(n)
    k = 0
    for i in range(n):
        if 0 <= k < n:
            k = k + m
            out[k] += x[i]
    return out


def sizes_that_grow(x, n, m):
    seen = [0.0] * n
    first = len(seen)
    out = np.zeros(first)
    for _ in range(m):
        seen.append(1.0)
    for i in range(len(seen)):
        out[i] = seen[i]
    return out


def grown_in_the_loop(x, n, m):
    seen = [1.0, 2.0]
    out = np.zeros(len(seen))
    for i in range(n):
        for k in range(len(seen)):
            out[k] += seen[k]
        if i > m:
            seen.append(x[i])
    return out


def swapped(x, n, m):
    old, new = np.zeros(n), np.zeros(n)
    for i in range(m):
        for k in range(len(old)):
            new[k] = old[k] + x[k]
        old, new = new, old
    return old


def in_parts(x, n, m):
    starts = np.array([0, m, n, n, m, n + 1])
    total = np.zeros(5)
    for i in range(5):
        for k in range(starts[i], starts[i + 1]):
            total[i] += x[k] * x[k - 1]
    return total


def from_below_zero(x, n, m):
    starts = np.array([-n, m - n, 0, n])
    total = np.zeros(3)
    for i in range(3):
        for k in range(starts[i], starts[i + 1]):
            total[i] += x[k]
    return total


def from_the_least_integer(x, n, m):
    starts = np.array([-(2**63), m])
    total = 0.0
    for i in range(1):
        for k in range(starts[i], starts[i + 1]):
            total += x[k - 1]
    return total


PROGRAMS = [
    by_a_remainder, under_a_condition, below_alone, either, of_an_equal, sorted_by_insertion, runs_below,
    changed_in_between, sizes_that_grow, grown_in_the_loop, swapped, in_parts, from_below_zero, from_the_least_integer,
]  # fmt: skip
GIVEN = [(9, 9, 4), (9, 9, 12), (9, 9, -4), (9, 9, 0), (9, 7, 3), (7, 9, 3), (3, 1, 1), (2, 0, 0)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("verify", ["first", "off"])
def test_answers_are_those_of_the_loop(program, verify):
    lifted = lift(program, backend="native", verify=verify)
    for length, n, m in [*GIVEN, *GIVEN]:
        x = np.linspace(-0.9, 1.4, length)
        assert difference(outcome(lifted, (x, n, m)), outcome(program, (x, n, m))) is None, (length, n, m)


@pytest.mark.parametrize("program", [by_a_remainder, in_parts, under_a_condition, sorted_by_insertion])
def test_they_are_kernels(program):
    lifted = lift(program, backend="native")
    for _ in range(2):
        lifted(np.linspace(0, 0.7, 9), 8, 4)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_what_is_known_is_not_asked():
    lifted = lift(under_a_condition, backend="native")
    for _ in range(2):
        lifted(np.linspace(-0.9, 0.8, 9), 9, 9)
    body = lifted.source.partition("int value")[2] or lifted.source
    assert "outside(k" not in body and "from_end(k" not in body
