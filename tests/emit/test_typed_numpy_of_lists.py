"""Functions of NumPy's of lists, in typed programs: what they make of them is what they make of arrays."""

import numpy as np
import pytest
from tests.emit.container_programs import runs_alike
from tests.emit.test_typed_tensors import first

__all__ = ["first"]


def averages(groups):
    """Lists that grow, of which the first iteration knows nothing yet."""
    table, last = [], 0.0
    for group in groups:
        waits, clock = [], last
        for value in group:
            clock = max(clock, value) + 1
            waits.append(clock - value)
        last = np.mean(waits)
        table.append([last, max(waits), len(waits), np.sum(waits), np.std(waits)])
    return np.array(table)


def folds(rows):
    found = []
    for k in range(len(rows)):
        row = rows[k]
        kept = [value for value in row if value != 2]
        found.append((np.sum(kept), np.max(kept), np.argmin(kept), np.mean(rows), np.any(kept), np.cumsum(kept)))
    return found


def events(values, least):
    """Rows of places and numbers, made of runs."""
    runs = []
    for value in values:
        if runs and (runs[-1][0] == value or runs[-1][1] < least):
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((value, 1))
    place, found = 0, []
    for value, length in runs:
        if value > 0:
            found.append((place, length, value / length))
        place += length
    return runs, np.array(found)


def joined(x, values):
    """Rows between numbers that are written out, of other kinds."""
    total = 0.0
    for k in range(3):
        row = np.concatenate(([0.0], x, [k, k + 1], values))
        total = total * 0.5 + float(row[k + 1]) + float(row[-1])
    return total, np.concatenate(([1], x)), np.concatenate((values, x))


def test_averages_of_lists(first):
    runs_alike(averages, [[1.0, 2.5, 0.5], [3.0], [2.0, 9.0]])
    runs_alike(averages, [[1.0]])
    runs_alike(averages, [], native=None)
    runs_alike(averages, [[1, 2], [3, 4, 8]], native=None)


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value", "ignore:Degrees of freedom")
def test_averages_of_nothing(first):
    runs_alike(averages, [[1.0, 2.0], []], native=None)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(
    "rows",
    [
        [[1, 5, 2], [4, 4, 0]],
        [[1.5, 5.0, 2.0], [4.0, -4.0, 0.0]],
        [[True, False], [True, True]],
        [[0.1] * 9 + [2.0] * 30, [0.3] * 39],
        [[float("nan"), 1.0], [3.0, 2.0]],
        [[float("inf"), 1.0], [-float("inf"), float("inf")]],
        [[2**62, 2**62], [1, 1]],
        [[1, 5], [4, 2.5]],
        [[1, 5, 2], [4, 4]],
        [[2, 2]],
        [[]],
        [],
    ],
)
def test_folds_of_lists(rows, first):
    runs_alike(folds, rows, native=None)


def test_folds_are_compiled(first):
    runs_alike(folds, [[1, 5, 2], [4, 4, 0]])
    runs_alike(folds, [[1.5, 5.0, 2.0], [4.0, -4.0, 0.0]])


def test_rows_of_runs(first):
    for values in ([1, 1, 0, 0, 2, 2, 2], [0.5, 0.5, -1.0], [3], [1, 0, 1, 0]):
        runs_alike(events, values, 2)
    for values in ([], [0], [-1.0, -1.0]):
        runs_alike(events, values, 2, native=None)


def test_rows_that_are_joined(first):
    for x in (np.arange(3), np.arange(3.0), np.arange(3, dtype=np.float32), np.arange(3) > 1):
        for values in ([7], [1.5, 2.5]):
            runs_alike(joined, x, values, native=None)
    runs_alike(joined, np.arange(3.0), [1.5])
    runs_alike(joined, np.arange(3.0), [], native=None)
    runs_alike(joined, np.array([]), [2], native=None)
