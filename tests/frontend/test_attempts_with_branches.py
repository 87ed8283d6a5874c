"""A ``try`` around branches, and one whose handler names the exception. The loop is the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from tests.frontend.oracle import check


def unused_name(a):
    z = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            try:
                q = a[i + 1, j]
                z[i, j] = a[i, j] - q
            except IndexError as e:  # noqa: F841
                pass
    return z


def name_bound_before(a):
    e, total = 3.0, 0.0
    for i in range(a.shape[0]):
        try:
            total += a[i + 1, 0]
        except IndexError as e:  # noqa: F841
            total += 100.0
    return total + e


def name_bound_behind(a):
    total = 0.0
    for i in range(a.shape[0]):
        try:
            total += a[i + 1, 0]
        except IndexError as e:  # noqa: F841
            total += 100.0
        e = total * 2
        total += e
    return total


def in_its_test(a):
    z = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            try:
                if a[i, j] >= a[i + 1, j]:
                    z[i, j] = a[i, j]
            except IndexError:
                z[i, j] = -1.0
    return z


def in_its_branches(a):
    z = np.zeros(a.shape)
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            try:
                q = 255
                if a[i, j] > 5:
                    q = a[i + 1, j]
                else:
                    q = a[i - 1, j + 1]
                z[i, j] = q
            except IndexError:
                z[i - 1, j] += 1000
    return z


def bound_in_branches_alone(a):
    total = 0.0
    for i in range(a.shape[0]):
        try:
            if a[i, 0] > 5:
                q = a[i + 1, 0]
            else:
                q = a[i + 1, 1] * 2
            total += q
        except IndexError:
            total -= 50.0
    return total


def suppressed(a, angle):
    z = np.zeros(a.shape)
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            try:
                q = r = 255
                if (0 <= angle[i, j] < 20) or (160 <= angle[i, j] <= 180):
                    q = a[i, j + 1]
                    r = a[i, j - 1]
                elif 20 <= angle[i, j] < 90:
                    q = a[i + 1, j - 1]
                    r = a[i - 1, j + 1]
                elif 90 <= angle[i, j] < 160:
                    q = a[i - 1, j - 1]
                    r = a[i + 1, j + 1]
                if (a[i, j] >= q) and (a[i, j] >= r):
                    z[i, j] = a[i, j]
                else:
                    z[i, j] = 0
            except IndexError as e:  # noqa: F841
                z[i, j] = -2
    return z


def chosen(a):
    out = []
    for i in range(len(a)):
        try:
            value = a[i + 1] if a[i] > 2 else a[i + 2]
            more = a[i] > 2 and a[i + 3] > 1
            out.append(value + more)
        except IndexError:
            out.append(-1)
    return out


def compared_in_turn(a):
    out = []
    for i in range(len(a)):
        try:
            out.append(3 < a[i] < a[i + 2])
        except IndexError:
            out.append(None)
    return out


def two_handlers(a, d, w):
    zeros = misses = hits = total = 0
    for k in a:
        try:
            if k > 2:
                total += 1 // w[k % 2]
                hits += 1
            elif k > 0:
                total += d[k]
            total += 10
        except ZeroDivisionError:
            zeros += 1
        except KeyError:
            misses += 1
        else:
            hits += 100
    return zeros, misses, hits, total


def left_from_branches(a):
    total = count = 0
    for i in range(len(a)):
        try:
            if a[i] == 7:
                count += a[i + 1]
                continue
            if a[i] == 8:
                total += a[i + 2]
                break
            total += a[i + 1]
        except IndexError:
            total -= 1
            continue
        count += 1
    return total, count


def failing_in_the_handler(a):
    total = 0
    for i in range(len(a)):
        try:
            if a[i] > 2:
                total += a[i + 1]
        except IndexError:
            total += a[i + 5]
    return total


GRID = np.arange(20.0).reshape(4, 5) % 7
ANGLE = np.arange(20.0).reshape(4, 5) * 37 % 180

CASES = [
    (unused_name, (GRID,)),
    (name_bound_before, (GRID,)),
    (name_bound_behind, (GRID,)),
    (in_its_test, (GRID,)),
    (in_its_branches, (GRID,)),
    (bound_in_branches_alone, (GRID,)),
    (suppressed, (GRID, ANGLE)),
    (chosen, ([1, 5, 2, 0, 4, 3],)),
    (compared_in_turn, ([1, 5, 2, 8, 2, 9],)),
    (two_handlers, ([3, 4, 1, 2, 0, 5, 2], {2: 6}, [1, 0])),
    (left_from_branches, ([1, 7, 2, 3, 8, 1, 4],)),
    (left_from_branches, ([1, 7, 2, 3, 1, 7],)),
    (failing_in_the_handler, ([1, 7, 2, 3, 1, 7],)),
]
KEPT = frozenset("name_bound_before compared_in_turn failing_in_the_handler".split())


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_loop_and_its_lifted_form_agree(function, arguments):
    check(function, arguments, kept=function.__name__ in KEPT)
