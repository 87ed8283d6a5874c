"""Names that hold one array after another, in loops inside of loops."""

import numpy as np
import pytest

from looplift import lift


def list_that_becomes_another(n, m):
    a = list(range(n))
    b = a[:]
    for _i in range(m):
        for _j in range(m):
            for w in range(1, n):
                b[w] = a[w] + b[w]
            a = b
    return b


def three_arrays_in_turn(n, m):
    a = np.arange(n) * 1.0
    b = np.ones(n)
    for i in range(m):
        for _j in range(i):
            c = np.zeros(n)
            for w in range(1, n):
                c[w] = a[w] + b[w - 1]
            a, b = b, c
        b[0] += a[n - 1]
    return a, b


def one_of_two(n, m):
    a, b = np.arange(n) + 1.0, np.arange(n) + 1.0
    for i in range(m):
        for j in range(m):
            if j > i:
                a = b
            for w in range(1, n):
                b[w] = a[w - 1] * 0.5 + b[w]
        b[0] = a[0] + 1
    return b


def under_a_condition(n, m):
    a, b = np.arange(n) + 1.0, np.arange(n) + 2.0
    for i in range(m):
        if i % 2 == 0:
            for _j in range(m):
                c = np.zeros(n)
                for w in range(n):
                    c[w] = a[w] * 0.5 + b[w]
                a = c
        else:
            b[0] += a[0]
    return a, b


def begun_anew(n, m):
    a = np.arange(n) + 1.0
    for _i in range(m):
        b = a
        for _j in range(m):
            c = np.zeros(n)
            for w in range(n):
                c[w] = b[w] * 0.5 + a[w]
            b = c
        a = b
    return a


def exchanged_in_a_while(n, m):
    a, b = np.arange(n) + 1.0, np.arange(n) + 2.0
    k = 0
    while k < m:
        for _j in range(2):
            if n > 2:
                a, b = b, a
            else:
                a = b
            for w in range(n):
                a[w] = a[w] * 0.5 + b[w]
        k += 1
    return a[0] + b[0]


FUNCTIONS = (
    list_that_becomes_another, three_arrays_in_turn, one_of_two, under_a_condition, begun_anew, exchanged_in_a_while,
)  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_arrays_under_other_names(function):
    lifted = lift(function, backend="native", verify="off")
    for n in (4, 1, 2):
        for m in (2, 0, 1, 3):
            assert repr(lifted(n, m)) == repr(function(n, m))
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
