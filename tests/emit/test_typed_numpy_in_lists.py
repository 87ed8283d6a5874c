"""Lists of the caller that hold Python's numbers beside NumPy's: each is computed with as what it is."""

import numpy as np
import pytest

from looplift import lift


def searched(x, levels):
    out = []
    for v in x:
        k = 0
        while k < len(levels) - 1 and levels[k] < v:
            k += 1
        out.append(levels[k] + v * levels[0])
    return out


def between_numbers(x, levels):
    out = []
    for v in x:
        k = 0
        while k < 2 and levels[k] < v:
            k += 1
        out.append(levels[k] * levels[0] + k)
    return out


def changed(x, levels):
    for k in range(len(x)):
        while levels[k % len(levels)] > x[k] + 1.5:
            levels[k % len(levels)] = levels[k % len(levels)] / 2
    return sum(levels)


def quotients(x, levels):
    out = []
    for v in x:
        k = 0
        while levels[k] < v and k < 2:
            k += 1
        out.append(v / levels[k])
    return out


LISTS = (
    [0.0, np.float64(0.3), np.float64(0.6), 0.9],
    [np.float64(0.0), 0.3, 0.6],
    [0, np.int64(1), np.int32(2), np.float32(0.5)],
    [np.bool_(True), 2, 0.5],
    [True, np.float64(2.5), 1],
    [np.uint64(2**63 + 9), 1, 0.5],
)


def told(value):
    return [(type(one), repr(one)) for one in value] if isinstance(value, list) else (type(value), repr(value))


def outcome(function, x, levels):
    levels = list(levels)
    try:
        return told(function(x, levels)), told(levels)
    except Exception as error:
        return type(error), str(error), told(levels)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("levels", LISTS, ids=str)
@pytest.mark.parametrize("function", (searched, between_numbers, changed, quotients), ids=lambda one: one.__name__)
def test_lists_of_both_kinds_of_numbers(function, levels):
    lifted = lift(function, verify="off")
    for seed in (0, 1):
        x = np.random.default_rng(seed).random(200)
        for values in (x, x.tolist()):
            assert outcome(lifted, values, levels) == outcome(function, values, levels)


def test_such_loops_become_programs():
    lifted, x = lift(searched, verify="off"), np.random.default_rng(0).random(200)
    lifted(x, LISTS[0])
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
