"""Containers of which items are moved and taken at either end, and dicts that are made of keys, in typed programs."""

import random
from collections import Counter, OrderedDict, deque

import pytest
from tests.emit.container_programs import runs_alike
from tests.emit.test_typed_tensors import first

__all__ = ["first"]


def least_recently_used(requests, capacity):
    hits, orders = [], []
    for row in requests:
        cache, hit = OrderedDict(), 0
        for k in row:
            if k in cache:
                cache.move_to_end(k)
                hit += 1
            else:
                if len(cache) >= capacity:
                    cache.popitem(last=False)
                cache[k] = hit
        hits.append(hit)
        orders.append((list(cache), [*cache.values()]))
    return hits, orders


def taken_back(rows):
    found = []
    for row in rows:
        counts, others, order = {}, Counter(row), OrderedDict()
        for one in row:
            counts[one] = counts.get(one, 0) + 1
            order[one] = len(counts)
        while len(counts) > 1:
            key, value = counts.popitem()
            found.append((key, value))
            order.move_to_end(key, last=True)
        if row:
            found.append(order.popitem())
            found.append(order.popitem(False) if order else (0, 0))
        counts[-1] = 0
        found.append(counts.popitem())
        found.append((len(others), len(order)))
    return found


def moved_anyway(rows):
    total = 0
    for row in rows:
        order = OrderedDict()
        for one in row:
            order[one] = one
        order.move_to_end(3)
        total += order.popitem()[1]
    return total


def moved_while_gone_through(rows):
    found = []
    for row in rows:
        order = OrderedDict()
        for one in row:
            order[one] = one
        for one in order:
            order.move_to_end(one)
            found.append(one)
    return found


def josephus(cases):
    found = []
    for n, k in cases:
        queue, order = deque(range(n)), []
        while queue:
            queue.rotate(-(k - 1))
            order.append(queue.popleft())
        found.append(order)
    return found


def rotated(rows, queue):
    found = []
    for row in rows:
        for k in row:
            queue.rotate(k)
            queue.append(k)
            queue.rotate()
        found.append([*queue])
    return found


def distinct(rows):
    found = []
    for row in rows:
        kinds, counts = dict.fromkeys(row), dict.fromkeys(row, 0)
        for one in row:
            counts[one] += 1
        found.append((list(kinds), counts, kinds))
    return found


ROWS = [[random.Random(k).randrange(9) for _ in range(30)] for k in range(4)] + [[], [3]]


@pytest.mark.parametrize("capacity", [1, 4, 20])
def test_caches(capacity, first):
    runs_alike(least_recently_used, ROWS, capacity)
    runs_alike(least_recently_used, [[*range(200), *range(150, 250), *range(180)]], capacity * 20)


def test_items_from_the_end(first):
    runs_alike(taken_back, ROWS)


def test_keys_that_are_not_there(first):
    runs_alike(moved_anyway, [[1, 3, 2], [3]])
    runs_alike(moved_anyway, [[1, 3, 2], [4]], native=False)
    runs_alike(moved_while_gone_through, [[1, 2]], native=False)


def test_rotated_queues(first):
    runs_alike(josephus, [(n, n % 7 + 1) for n in range(1, 30)])
    for most in (None, 3, 0):
        runs_alike(rotated, [[1, -2, 5], [0, 7, -9]], deque([1, 2, 3, 4, 5], most), native=None)


def test_dicts_of_keys(first):
    runs_alike(distinct, ROWS)
    runs_alike(distinct, [["b", "a", "b"], []])
