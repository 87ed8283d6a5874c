"""A ``while`` that counts up or down until something holds is a search for the position."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check
from tests.vectorize.test_distribution import matrix, vector

from looplift import lift
from looplift.base.compare import difference


def left_by_a_break(x):
    o = []
    for i in range(x.shape[0]):
        j = 0
        while j < x.shape[1]:
            if x[i, j] > 0.8:
                break
            j += 1
        o.append(j)
    return o


def counted_before_the_break(x):
    o = []
    for i in range(x.shape[0]):
        j = 0
        while j < x.shape[1]:
            j += 1
            if x[i, j - 1] > 0.8:
                break
        o.append(j)
    return o


def summed_on_the_way(x):
    o = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        j = 0
        s = 0.0
        while j < x.shape[1] and x[i, j] < 1.0:
            s = s + x[i, j]
            j += 1
        o[i] = s * j
    return o


def while_it_rises(x):
    o = []
    for i in range(x.shape[0]):
        j = 1
        while j <= x.shape[1] - 1 and x[i, j] > x[i, j - 1]:
            j += 1
        o.append(j)
    return o


def first_value(x):
    o = []
    for i in range(x.shape[0]):
        j = 0
        while j < x.shape[1] and not (x[i, j] > 0.5 and j % 2 == 0):
            j += 1
        o.append(x[i, j] if j < x.shape[1] else x[i, 0] * 0)
    return torch.stack(o)


def last_value(x):
    o = []
    for i in range(x.shape[0]):
        j = 0
        y = x[i, 0]
        while j < x.shape[1] and x[i, j] < 1:
            y = x[i, j]
            j += 1
        o.append(y)
    return torch.stack(o)


def marked(x):
    o = torch.zeros_like(x)
    for i in range(x.shape[0]):
        j = 0
        while j < x.shape[1] and x[i, j] < 1:
            o[i, j] = 1
            j += 1
    return o


def with_an_else(x):
    o = []
    for i in range(x.shape[0]):
        j = 0
        while j < x.shape[1] and x[i, j] < 1:
            if x[i, j] < -1:
                break
            j += 1
        else:
            j = -1
        o.append(j)
    return o


def downwards(x):
    o = []
    for i in range(x.shape[0]):
        j = x.shape[1] - 1
        while j > 0 and x[i, j] < x[i, j - 1]:
            j -= 1
        o.append(j)
    return o


def with_an_else_and_a_break(x):
    o = []
    for i in range(x.shape[0]):
        j = 0
        while j < x.shape[1]:
            if x[i, j] > 0.8:
                break
            j += 1
        else:
            j = -5
        o.append(j)
    return o


def counted_and_left(x):
    o = []
    for i in range(x.shape[0]):
        j = 0
        while j < x.shape[1]:
            if x[i, j] > 0.8:
                j += 1
                break
            j += 1
        o.append(j)
    return o


def counted_twice(x):
    o = []
    for i in range(x.shape[0]):
        j = 0
        while j < x.shape[1]:
            if x[i, j] < -0.5:
                j += 1
                continue
            if x[i, j] > 0.8:
                break
            j += 1
        o.append(j)
    return o


def left_in_two_ways(x):
    o = []
    for i in range(x.shape[0]):
        j = 0
        while j < x.shape[1] and x[i, j] < 0.4:
            if x[i, j] < -1.5:
                break
            j += 1
        o.append(j)
    return o


SEARCHES = [
    left_by_a_break,
    summed_on_the_way,
    while_it_rises,
    first_value,
    last_value,
    marked,
    downwards,
    left_in_two_ways,
]
OTHERS = [counted_before_the_break, with_an_else, with_an_else_and_a_break, counted_and_left, counted_twice]


@pytest.mark.parametrize("function", SEARCHES)
def test_searches(function):
    check(
        function, [matrix(6, 9)], [matrix(1, 2)], [matrix(3, 4).abs() + 2], [-matrix(3, 4).abs() - 2], gradients=False
    )


@pytest.mark.parametrize("function", OTHERS)
def test_what_depends_on_the_way_that_it_is_left(function):
    values = [[matrix(6, 9)], [matrix(3, 4).abs() + 2], [-matrix(3, 4).abs() - 2]]
    check(function, *values, gradients=False, decisions={"lanes", "sequential"})


def level(x, first):
    while first < len(x) and x[first] < 0.9:
        first += 1
    return first


def test_from_a_place_of_the_caller():
    check(level, [vector(9), 0], [vector(9), 4], [vector(9) * 0, 0], gradients=False)
    lifted = lift(level, verify="off", backend="torch")
    for first in (0, 9, 12, -2):
        assert lifted(vector(9), first) == level(vector(9), first)


def test_a_tensor_that_counts_is_changed():
    first, second = torch.tensor(0), torch.tensor(0)
    found = level(vector(9) * 0, first), lift(level, verify="off", backend="torch")(vector(9) * 0, second)
    assert found[0] is first and found[1] is second
    assert first == second


def test_elements_that_move_on_the_way():
    def sorted_in_place(a):
        for i in range(1, len(a)):
            key, j = a[i].clone(), i - 1
            while j >= 0 and a[j] > key:
                a[j + 1] = a[j]
                j -= 1
            a[j + 1] = key
        return a

    lifted = lift(sorted_in_place, verify="off", backend="torch")
    assert not difference(lifted(vector(9)), sorted_in_place(vector(9)), magnitude=1.0, path="call")


def test_an_end_that_is_not_there():
    def least(x):
        j = 0
        while j < 3 and x[j] < 9:
            j += 1
        return j

    lifted = lift(least, verify="off", backend="torch")
    assert lifted(torch.tensor([1.0, 9.5])) == 1
    with pytest.raises(IndexError, match="index 2"):
        lifted(torch.tensor([1.0, 2.0]))
