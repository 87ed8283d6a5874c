"""Deques that hold so many items at most, as windows and buffers, and the least and greatest of many items."""

import copy
import heapq
import random
from collections import deque

import pytest

from looplift import lift


def means(xs, width):
    window, found = deque(maxlen=width), []
    for x in xs:
        window.append(x)
        found.append(sum(window) / len(window))
    return found, window


def newest(xs, width):
    front, back = deque(xs[:3], width), deque(maxlen=width)
    for k, x in enumerate(xs):
        if k % 3:
            front.appendleft(x)
        else:
            back.extend([x, -x])
        if len(back) == width and k % 5 == 0:
            back.popleft()
    other = back.copy()
    other.append(0.5)
    return list(front), back, other, list(back)[::-1]


def replayed(buffers, steps):
    total = 0
    for k in range(steps):
        for name, one in buffers.items():
            one.append((k, name))
            total += len(one) + one[0][0]
    return total


def unbounded(xs, width):
    q = deque(xs, maxlen=None)
    for x in xs:
        q.append(x + width)
        q.popleft()
    return list(q)


def numbers(seed):
    r = random.Random(seed)
    return [r.uniform(-1, 1) for _ in range(4 * seed)], (3, 1, 0, 7, 2)[seed % 5]


def given(seed):
    return {"a": deque([(9, "z")] * seed, maxlen=3), "b": deque(maxlen=2 + seed), "c": deque([(1, "y")])}, 5


@pytest.mark.parametrize(
    ("loop", "make"),
    [(means, numbers), (newest, numbers), (replayed, given), (unbounded, numbers)],
    ids=lambda one: one.__name__,
)
def test_deques_are_those_of_the_loop(loop, make):
    lifted = lift(loop, verify="off")
    for seed in (3, 0, 1, 2, 3, 4, 5):
        ours = make(seed)
        theirs = copy.deepcopy(ours)
        outcomes = []
        for function, arguments in ((lifted, ours), (loop, theirs)):
            try:
                outcomes.append(function(*arguments))
            except (ZeroDivisionError, IndexError) as error:
                outcomes.append((type(error), str(error)))
        assert repr(outcomes[0]) == repr(outcomes[1])
        assert repr(ours) == repr(theirs)
    assert "native" in {one.decision for one in lifted.report().loops}


def inserted(xs, width):
    q = deque(maxlen=width)
    for x in xs:
        q.insert(0, x)
    return q


def negative(xs, width):
    return [len(deque(maxlen=-width)) for _ in xs]


@pytest.mark.parametrize("loop", [inserted, negative], ids=lambda one: one.__name__)
def test_what_a_deque_raises(loop):
    lifted = lift(loop, verify="off")
    for xs, width in (([1.0, 2.0], 3), ([1.0, 2.0, 3.0], 2), ([0.5], 1)):
        outcomes = []
        for function in (lifted, loop):
            try:
                outcomes.append(function(xs, width))
            except (IndexError, ValueError) as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1]


def nearest(rows, count):
    found = []
    for i, a in enumerate(rows):
        apart = [(sum((x - y) ** 2 for x, y in zip(a, b)), j) for j, b in enumerate(rows) if i != j]
        few = heapq.nsmallest(count, apart)
        far = heapq.nlargest(2, apart, key=lambda pair: (-pair[1], pair[0]))
        found.append(([j for _, j in few], far, heapq.nlargest(1, a), heapq.nsmallest(9, {int(x) for x in a})))
    return found


def test_the_least_and_the_greatest():
    lifted = lift(nearest, verify="off")
    for seed, count in ((3, 2), (1, 0), (4, -1), (5, 9), (2, 1), (0, 2)):
        r = random.Random(seed)
        rows = [[float(r.randint(-3, 3)) for _ in range(3)] for _ in range(2 * seed)]
        assert lifted(rows, count) == nearest(rows, count)
    assert {one.decision for one in lifted.report().loops} == {"native"}
