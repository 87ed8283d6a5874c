"""NumPy's arrays of no dimensions stay arrays where a loop stays: one lane of several is a number."""

import numpy as np
import pytest

from looplift import lift


def best_so_far(x, y):
    best = np.array(0.0)
    for j in range(len(x)):
        c = np.where(y[0] != 2.0, x[j], 3.0)
        if c > best * 0.9 + 0.1:
            best = c
    return best


def best_or_none(x, y):
    best = place = None
    for j in range(len(x)):
        c = np.where(y[0] != 2.0, x[j], 3.0)
        if best is None or c > best * 0.9 + 0.1:
            best, place = c, j
    return best, place


def best_of_each(x, y):
    found = []
    for i in range(min(4, len(y))):
        best = np.array(0.0)
        for j in range(len(x)):
            c = np.where(y[i] > 0.2, x[j], 3.0)
            if c > best * 0.9 + 0.1:
                best = c
        found.append(best)
    return found


def under_a_branch(x, y):
    last, chosen = 0.0, np.array(1.0)
    for i in range(len(y)):
        last = last * 0.5 + y[i] * last * last + 0.1
        chosen = np.where(y[i] > 0.2, x[i], 3.0) if last > 0.2 else np.array(2.0)
    return chosen


def in_a_tuple(x, y):
    rows = []
    for i in range(min(4, len(y))):
        best = np.array(0.0)
        for j in range(len(x)):
            c = np.where(y[i] > 0.2, x[j], 3.0)
            if c > best * 0.9 + 0.1:
                best = c
        rows.append((best, i))
    return rows


def types(value):
    return [types(one) for one in value] if isinstance(value, (list, tuple)) else type(value)


@pytest.mark.parametrize("backend", ["torch", "native", "auto"])
@pytest.mark.parametrize("loop", [best_so_far, best_or_none, best_of_each, under_a_branch, in_a_tuple])
def test_what_is_handed_out_has_the_type_of_the_loops(loop, backend):
    lifted = lift(loop, backend=backend, verify="off")
    for size in (9, 1, 3, 40):
        for seed in range(3):
            x = np.random.default_rng(seed).random(size)
            found, expected = lifted(x, x), loop(x, x)
            assert types(found) == types(expected)
            np.testing.assert_equal(found, expected)
