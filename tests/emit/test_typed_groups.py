"""``itertools.groupby`` in typed programs: groups that are gone through at once are lists."""

import ast
import itertools
from itertools import groupby

import numpy as np
import pytest
from tests.emit.container_programs import runs_alike

from looplift.emit.typed_groups import with_groups


def run_lengths(values):
    return [(k, len(list(group))) for k, group in groupby(values)]


def longest(values):
    best, total = 0, 0
    for key, group in itertools.groupby(values):
        count = sum(1 for _ in group)
        if key and count > best:
            best = count
        total = total * 3 % 1009 + count
    return best, total


def by_tens(values):
    found = {}
    for ten, group in groupby(sorted(values), key=lambda v: v // 10):
        group = list(group)
        found[ten] = (group[0], group[-1], max(group), len(group))
        values.append(len(group))
    return found, values


def means(rows):
    """Rows by their first item; of a group all or none are looked at."""
    found = []
    for name, group in groupby(rows, lambda row: row[0]):
        if name < 2:
            continue
        weights = [weight for _, weight in group]
        found.append((name, sum(weights) / len(weights), len(weights)))
    return found


def left_early(values):
    total = 0
    for key, group in groupby(values):
        for value in group:
            total = total * 5 % 1013 + value
            if total % 3 == 0:
                break
        if key == 9:
            break
    return total


def flat(values):
    return [value * k for k, group in groupby(values) for value in group]


def of_a_helper(texts):
    def packed(text):
        return "".join(letter + str(sum(1 for _ in group)) for letter, group in groupby(text))

    return [packed(text) for text in texts]


VALUES = ([1, 1, 2, 2, 2, 1, 9, 9, 0, 0], [3], [], [0.5, 0.5, 1.0, -0.0, 0.0], [True, True, False], [5, 12, 17, 3, 25])


@pytest.mark.parametrize("function", [run_lengths, longest, by_tens, left_early, flat])
def test_groups(function):
    for values in VALUES:
        runs_alike(function, values, native=None)
    runs_alike(function, VALUES[0])


@pytest.mark.parametrize("function", [run_lengths, longest, flat])
def test_groups_of_other_values(function):
    nan = float("nan")
    for values in ([1.0, nan, nan, float("nan"), 2.0], [1, 1.0, 2, 2.5], np.array([1, 1, 2]), [2**70, 2**70]):
        runs_alike(function, values, native=None)
    runs_alike(function, "aabbbc", native=None)


def test_groups_of_rows():
    runs_alike(means, [(1, 0.5), (2, 1.0), (2, 2.5), (3, 1.0), (1, 2.0)])
    runs_alike(means, [(2, 1), (2, 3)])
    runs_alike(means, [], native=None)


def test_groups_of_letters():
    runs_alike(of_a_helper, ["aabbbc", "", "x", "éé€"])


def kept(values):
    """Groups that are kept are empty."""
    every = [(k, group) for k, group in groupby(values)]
    total = 0
    for k, group in every:
        for value in group:
            total += value * k
    return total


def twice(values):
    return [(sum(group), max(group, default=0)) for _, group in groupby(values)]


def measured(values):
    return [len(group) for _, group in groupby(values)]


def lengthened(values):
    found = []
    for key, group in groupby(values):
        found.append((key, sum(group)))
        if len(values) < 8:
            values.append(key)
    return found, values


def changed_rows(rows):
    found = []
    for key, group in groupby(rows, key=lambda row: row[0]):
        found.append((key, sum(row[1] for row in group)))
        for row in rows:
            row[0] = 7
    return found


def with_another_divisor(values):
    size, found = 2, []
    for key, group in groupby(values, key=lambda v: v // size):
        found.append((key, sum(group)))
        size = size + 1
    return found


def behind(values):
    group, total = [], 0
    for key, group in groupby(values):
        total += key
    return total, list(group)


@pytest.mark.parametrize("function", [kept, twice, measured, lengthened, with_another_divisor, behind])
def test_what_is_no_list(function):
    for values in ([1, 1, 2, 2, 2, 1], [4, 4], []):
        runs_alike(function, values, native=None)


def test_rows_that_change_meanwhile():
    runs_alike(changed_rows, [[1, 2], [1, 3], [2, 4], [3, 5]], native=None)


@pytest.mark.parametrize(
    "text",
    [
        "for k, g in groupby(x):\n    a.append(g)",
        "for k, g in groupby(x):\n    for i in range(2):\n        t += sum(g)",
        "t = [[sum(g) for i in y] for k, g in groupby(x)]",
        "t = [(v for v in g) for k, g in groupby(x)]",
        "for k, g in groupby(x):\n    t = sum(g) + next(g)",
        "for k, g in groupby(x):\n    pass\nt = list(g)",
        "for g in groupby(x):\n    t = list(g)",
        "for k, g in groupby(x, key=f(y)):\n    t = list(g)",
        "for k, g in groupby(zip(x, y)):\n    a.append(sum(g))",
        "for k, g in groupby(x, lambda v: v > t):\n    t = sum(g)",
        "for k, g in groupby(x):\n    t = f(lambda: list(g))",
    ],
)
def test_loops_that_stay(text):
    assert ast.unparse(with_groups(ast.parse(text).body)) == text
