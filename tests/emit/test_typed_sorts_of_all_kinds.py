"""Sorts whose keys look at the list, and sorts of objects by their class's ``__lt__``."""

import heapq

import pytest
from strictly import same


def by_counts(xs):
    out = []
    for _ in range(3):
        xs.sort(key=lambda v: (xs.count(v), len(xs), -v))
        out.append(xs[0])
        xs.append(out[-1] - 1)
    return out, xs


def through_another_name(xs):
    ys, out = xs, []
    for k in range(3):
        ys.sort(key=lambda v: v * (1 if xs else -1), reverse=k == 1)
        out.append(ys[:2])
    return out


def weight(v, seen):
    return len(seen) * 10 - v


def by_a_function(xs):
    out = []
    for _ in range(2):
        xs.sort(key=lambda v: weight(v, xs))
        out.append(xs[-1])
    return out


def by_one_that_appends(xs):
    seen = []
    for _ in range(2):
        xs.sort(key=lambda v: seen.append(v) or v)
    return seen


def changed_meanwhile(xs):
    for _ in range(2):
        xs.sort(key=lambda v: xs.append(v) or v)
    return xs


class Ranked:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __lt__(self, other):
        return (self.x, -self.y) < (other.x, -other.y)


class Falling:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __lt__(self, other):
        return self.x > other.x


class Partly:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __lt__(self, other):
        return self.x < other.x and self.y < other.y


class Crossed:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __lt__(self, other):
        return self.x < other.y


class Counting:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __lt__(self, other):
        self.y += 1
        return self.x < other.x


def sorted_objects(items):
    total = 0
    for k in range(2):
        for one in sorted(items, reverse=k > 0):
            total = (total * 31 + one.x * 7 + one.y) % 1000003
    return total


def sorted_in_place(items):
    for _ in range(2):
        items.sort()
        items.append(items.pop(0))
    return [(one.x, one.y) for one in items]


def with_numbers(items):
    total = 0
    for k in range(2):
        for n, one in sorted([(one.x % 2, one) for one in items]):
            total = (total * 31 + one.x * 7 + one.y + n + k) % 1000003
    return total


def smallest(items):
    out = []
    for k in range(1, 4):
        out.append([one.x for one in heapq.nsmallest(k, items)] + [one.y for one in heapq.nlargest(k, items)])
    return out


@pytest.mark.parametrize("function", [by_counts, through_another_name, by_a_function, by_one_that_appends])
def test_a_list_has_no_items_while_it_is_sorted(function):
    same(function, ([3, 3, 1, 2, 2],), ([5],), ([2, 4, 4, 4, 0, -1, 7, 7, 3, 9],), decisions={"native"})


def test_a_list_that_changes_while_it_is_sorted_raises():
    same(changed_meanwhile, ([3, 1, 2],))


@pytest.mark.parametrize("function", [sorted_objects, sorted_in_place, with_numbers, smallest])
@pytest.mark.parametrize("made", [Ranked, Falling, Partly, Crossed, Counting])
@pytest.mark.parametrize("count", [5, 12, 70])
def test_objects_are_sorted_as_their_class_says(function, made, count):
    same(function, ([made(k * 7 % 12, k * 5 % 11) for k in range(count)],))


@pytest.mark.parametrize("made", [Ranked, Falling])
def test_objects_in_order_of_their_attributes_are_sorted_by_compiled_code(made):
    nan = float("nan")
    numbers = [made(k * 7 % 12 / 4, k * 5 % 11) for k in range(30)]
    same(sorted_objects, (numbers,), decisions={"native"})
    same(sorted_objects, ([made(1.0, 2), made(nan, 1), made(0.5, 3), made(nan, 0), made(0.25, 1)],))
