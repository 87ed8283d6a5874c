"""Integers that cannot overflow within years are not checked, and others are: NumPy's warn, Python's have no end."""

import warnings

import numpy as np
import pytest

from looplift import lift


def counted(values, bins):
    counts = np.zeros(bins, dtype=np.int64)
    for v in values:
        counts[v % bins] += 1
    return counts


def edits(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    for i in range(len(a) + 1):
        table[i, 0] = i
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return table


def steps_of(starts):
    out = np.zeros(len(starts), dtype=np.int64)
    for i in range(len(starts)):
        x, count = i, 0
        while x > 1 and count < 500:
            x = x // 2 if x % 2 == 0 else x - 1
            count += 1
        out[i] = count
    return out


SLOW = [
    (counted, (np.arange(90) * 7, 8)),
    (edits, (np.arange(9) % 3, np.arange(7) % 4)),
    (steps_of, (np.zeros(30),)),
]


def doubled(n, start):
    table = np.ones(n, dtype=np.int64)
    for i in range(1, n):
        table[i] = table[i - 1] + table[i - 1]
    return table


def doubled_by_halves(n, start):
    k = 1
    out = np.zeros(n)
    for i in range(n):
        k = int(k // 0.5) + 1
        out[i] = k
    return out


def from_a_given_number(n, start):
    out = np.zeros(n)
    k = start
    for i in range(n):
        k += 1
        out[i] = k
    return out


def of_a_given_array(n, start):
    table = np.array([start, start], dtype=np.int64)
    for i in range(n):
        table[i % 2] += 1
    return table


def begun_great(n, start):
    table = np.full(n, 2**63 - 5)
    for i in range(n):
        for _ in range(n):
            table[i] += 1
    return table


def stored_under_another_name(n, start):
    table = np.zeros((2, n), dtype=np.int64)
    for i in range(n):
        row = table[i % 2]
        row[0] = start
        table[i % 2, 0] += 1
    return table


def by_great_steps(n, start):
    k = 0
    out = np.zeros(n)
    for i in range(n):
        k += 2**57
        out[i] = k
    return out


def narrow(n, start):
    counts = np.zeros(2, dtype=np.int8)
    for i in range(200 * n):
        counts[i % 2] += 1
    return counts


GREAT = [
    doubled, doubled_by_halves, from_a_given_number, of_a_given_array, begun_great, stored_under_another_name,
    by_great_steps, narrow,
]  # fmt: skip


def outcome(function, *arguments):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = function(*arguments)
        except Exception as error:
            found = repr(error)
    return found, sorted({str(one.message) for one in said})


@pytest.mark.parametrize(("function", "arguments"), SLOW, ids=lambda one: getattr(one, "__name__", ""))
def test_counters_are_not_checked(function, arguments):
    lifted = lift(function, backend="native")
    for _ in range(2):
        np.testing.assert_array_equal(lifted(*arguments), function(*arguments))
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
    assert "_overflow(" not in lifted.source.partition("_kernel(")[2]


@pytest.mark.parametrize("function", GREAT, ids=lambda one: one.__name__)
def test_what_may_overflow_is_as_in_the_loop(function):
    lifted = lift(function, backend="native", verify="off")
    for n, start in ((4, 3), (70, 2**63 - 30), (70, -(2**63) + 3), (4, 3)):
        found, wanted = outcome(lifted, n, start), outcome(function, n, start)
        np.testing.assert_array_equal(found[0], wanted[0])
        assert found[1] == wanted[1]
