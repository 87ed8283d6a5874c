"""Operators, subscripts and attributes of objects that call functions count as calls where an order is chosen."""

import pytest
from strictly import same


class Noted:
    def __init__(self, log, value):
        self.log, self.value = log, value

    def __add__(self, other):
        self.log.append(len(self.log) * 3)
        return self.value + other.value

    def __getitem__(self, place):
        self.log.append(len(self.log) + place)
        return self.value + place

    @property
    def last(self):
        self.log.append(len(self.log))
        return self.log[-2]


def beginnings(a, b, log):
    found = []
    for k in range(3):
        found.append(sum(log, a + b) + k)
    return found


def beginnings_by_attribute(a, b, log):
    found = []
    for k in range(3):
        found.append(sum(log, b.last) + sum((x for x in [1, 2]), b.last) + k)
    return found


def items(a, b, log):
    found = []
    for k in range(3):
        found.append(sum([a[k], b[k]], log[-1]))
    return found


def extremes(a, b, log):
    found = []
    for k in range(3):
        found.append(min(log, default=a + b))
        found.append(max([x for x in log if x > 1000 * k], default=b.last))
        found.append(max((x for x in log if x > 1000), default=len(log)))
        found.append(max((x + a[k] for x in log[:2]), default=log[-1]))
    return found


def orders(a, b, log):
    found = []
    for k in range(3):
        found.append(sorted(log, reverse=a[k] > 3))
        found.append(sorted([b.last, b[k], a + b], reverse=len(log) > 12))
        found.append(sorted(log, reverse=b.last > 3))
    return found


def orders_of_streams(a, b, log):
    found = []
    for k in range(3):
        found.append(sorted((x * 2 for x in log), reverse=b.last > 3 + k))
    return found


def with_keys(xs):
    found, limit = [], 5

    def key(x):
        nonlocal limit
        limit += x
        return -x

    for _ in range(3):
        found.append(max(xs, key=key, default=limit))
        found.append(max(xs[:0], key=key, default=limit))
    return found, limit


@pytest.mark.parametrize("function", [beginnings, beginnings_by_attribute, items, extremes, orders, orders_of_streams])
def test_methods(function):
    log = [1, 4]
    same(function, (Noted(log, 2), Noted(log, 5), log))


def test_keys_that_change_the_default():
    same(with_keys, ([3, 1, 2],))
