"""Numbers that are Python's at one time and NumPy's at another, and change their names in a kernel."""

import numpy as np
import pytest

from looplift import lift


def shifted(x, n):
    a, b = 0.0, x.sum()
    for _ in range(n):
        a, b = b, a + 2
    return a, b


def three_names(x, n):
    a, b, c = 0.0, 1.0, x.sum()
    for _ in range(n):
        a, b, c = c, a + 2, b * 2
    return a, b, c


def powers(x, n):
    a, b = 1.5, x.sum()
    for _ in range(n):
        a, b = b, a**2.0
    return a, b


def comparisons(x, n):
    a, b, found = 0.0, x.sum(), False
    for _ in range(n):
        a, b, found = b, a + 1.0, a < b
    return a, b, found


def least(x, n):
    a, b = 1.0, x.sum()
    for _ in range(n):
        a, b = b, min(a + 1.0, 2.0)
    return a, b


def computed_before_a_branch(x, n):
    a, b = 0.0, x.sum()
    for i in range(n):
        t = a + 1.0
        if i % 2:
            a = x[0] * 1.0
        b = t
    return a, b


def swapped_in_a_branch(x, n):
    a, b = 0.0, x.sum()
    for _ in range(n):
        t = a + 2.0
        if t > 3:
            a, b = b, t - 1.0
        else:
            a, b = t, b
    return a, b


def left_early(x, n):
    a, b = 0.0, x.sum()
    for _ in range(n):
        a, b = b, a + 2.0
        if a > 6:
            break
    return a, b


def inner_loops(x, n):
    a, b, c = 0.0, x.sum(), 1.0
    for i in range(n):
        for _ in range(i):
            a, b, c = c, a + 2.0, b
    return a, b, c


PROGRAMS = (
    shifted,
    three_names,
    powers,
    comparisons,
    least,
    computed_before_a_branch,
    swapped_in_a_branch,
    left_early,
    inner_loops,
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_types_go_with_the_values(program):
    lifted = lift(program, backend="native", verify="off")
    for x in (np.array([0.5, 1.0]), np.array([-2.0])):
        for n in (0, 1, 2, 3, 6):
            got, wanted = lifted(x, n), program(x, n)
            assert [(type(one), one) for one in got] == [(type(one), one) for one in wanted]
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
