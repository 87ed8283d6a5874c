"""Lists of numbers that a loop makes and puts in order by ``.sort()``, in kernels; the loop is the oracle."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from looplift import lift


def medians(x, width):
    out = np.zeros(len(x))
    for i in range(len(x) - width):
        window = []
        for k in range(width):
            window.append(x[i + k])
        window.sort()
        out[i] = window[len(window) // 2]
    return out


def greatest_first(x, width):
    out = np.zeros(len(x))
    for i in range(len(x) - width):
        window = [x[i + k] for k in range(width)]
        window.sort(reverse=True)
        for k in range(width):
            out[i] += window[k] / (k + 1)
    return out


def sum_of_the_least(x, width):
    total = 0.0
    for i in range(len(x) - width):
        distances = []
        for j in range(len(x)):
            distances.append(abs(x[i] - x[j]))
        ranked = sorted(distances)
        for k in range(width):
            total += ranked[k] - distances[k]
    return total


def signs_of_zeros(x, width):
    out = np.zeros((len(x), width))
    for i in range(len(x) - width):
        items = sorted([x[i + k] * 0.0 for k in range(width)], reverse=i % 2 == 0)
        for k in range(width):
            out[i, k] = items[k]
    return out


def of_the_caller(x, width):
    total = 0.0
    for i in range(width):
        x.sort()
        total += x[0] * i
    return total


def known_by_two_names(x, width):
    total = 0.0
    for i in range(len(x) - width):
        window = [x[i], x[i + 1], x[i + 2]]
        other = window
        window.sort()
        total += other[0]
    return total


def held_by_a_list(x, width):
    windows = []
    for i in range(len(x) - width):
        window = [float(x[i]), float(x[i + 1]), float(x[i + 2])]
        windows.append(window)
        window.sort()
    return windows


def made_before(x, width):
    window, total = [0.5, 0.25], 0.0
    for i in range(len(x)):
        window.append(float(x[i]))
        window.sort()
        total += window[0]
    return total


def sorted_again(x, width):
    total = 0
    for i in range(len(x) - width):
        window = []
        for k in range(width):
            window.append(int(x[i + k] * 10))
        window.sort()
        window.append(3)
        window.sort(reverse=True)
        total += window[1] * len(window)
    return total


def by_a_key(x, width):
    total = 0.0
    for i in range(len(x) - width):
        window = [float(x[i]), float(x[i + 1]), float(x[i + 2])]
        window.sort(key=abs)
        total += window[0]
    return total


def at_times(x, width):
    total = 0.0
    for i in range(len(x) - width):
        window = [float(x[i]), float(x[i + 1]), float(x[i + 2])]
        if x[i] > 0:
            window.sort()
        total += window[0]
    return total


FUNCTIONS = (
    medians, greatest_first, sum_of_the_least, signs_of_zeros, of_the_caller, known_by_two_names, held_by_a_list,
    made_before, sorted_again, by_a_key, at_times,
)  # fmt: skip
RANDOM = np.random.default_rng(0)
VALUES = {
    "plain": RANDOM.normal(size=40),
    "single": RANDOM.normal(size=40).astype(np.float32),
    "whole": RANDOM.integers(-5, 5, 40),
    "repeated": RANDOM.integers(0, 2, 40) * 1.0,
    "zeros": np.where(RANDOM.uniform(size=40) < 0.5, -0.0, 0.0),
    "no numbers": np.where(RANDOM.uniform(size=40) < 0.2, np.nan, RANDOM.normal(size=40)),
    "infinite": np.where(RANDOM.uniform(size=40) < 0.2, np.inf, RANDOM.normal(size=40)),
    "few": RANDOM.normal(size=3),
    "none": np.zeros(0),
}


def seen(function, x, width):
    x = copy.copy(x)
    with np.errstate(all="ignore"):
        try:
            found = function(x, width)
        except (ValueError, IndexError, OverflowError) as error:
            found = repr(error)
    return repr(found.tolist() if isinstance(found, np.ndarray) else found), repr(x)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_as_the_loop(function):
    for backend in ("auto", "native"):
        lifted = lift(function, backend=backend, verify="off")
        for values in VALUES.values():
            for width in (3, 5, 20):
                assert seen(lifted, values, width) == seen(function, values, width)


@pytest.mark.parametrize("function", (medians, greatest_first, sum_of_the_least, sorted_again))
def test_kernels(function):
    lifted = lift(function, verify="off")
    lifted(VALUES["plain"], 5)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_long_lists():
    x = np.concatenate([RANDOM.normal(size=3000), np.zeros(50), -np.zeros(50)])
    RANDOM.shuffle(x)
    assert seen(lift(sorted_whole, backend="native", verify="off"), x, 0) == seen(sorted_whole, x, 0)


def sorted_whole(x, width):
    items, out = [], np.zeros(len(x))
    for i in range(len(x)):
        items.append(x[i])
    for i, item in enumerate(sorted(items)):
        out[i] = item
    return out
