"""Places at which elements of arrays hold, and arrays as lists, in typed programs."""

import numpy as np
import pytest
from tests.emit.container_programs import assert_equal, outcome, runs_alike
from tests.emit.test_typed_tensors import first

from looplift import lift

__all__ = ["first"]


def by_pairs(x):
    total = 0
    for row, column in zip(*np.where(x > 0)):
        total = total * 3 % 1009 + int(row) * 7 + int(column)
    return total


def by_columns(x):
    rows, columns = np.nonzero(x)
    seen, found = set(), []
    for k in range(len(rows)):
        if (rows[k], columns[k]) not in seen:
            seen.add((rows[k], columns[k]))
            found.append((rows[k] + columns[k], x[rows[k], columns[k]]))
    return found


def by_method(x):
    total = 0
    for k in x.nonzero()[0]:
        total = total * 5 % 1013 + k
    return total


def by_rows(x):
    total = 0
    for row, column in np.argwhere(x):
        total = total * 3 % 1009 + row * 7 + column
    return total, np.argwhere(x)


def handed_out(x):
    places = np.flatnonzero(x)
    total = 0
    for k in places:
        total = total * 3 % 1009 + k
    return total, places


def waves(x):
    """Places are told before anything changes."""
    for y, column in zip(*np.where(x == 1)):
        if y + 1 < x.shape[0]:
            x[y + 1, column] = 1
            x[y, column] = 2
    return x


def images():
    r = np.random.RandomState(0)
    whole = r.randint(0, 3, (9, 7))
    yield from (whole, whole.astype(np.int8), whole > 1, (whole - 1) * 0.5, whole.T, whole[::2, 1:])
    yield from (np.asfortranarray(whole), whole.astype(np.float32))


@pytest.mark.parametrize("function", [by_pairs, by_columns, by_rows, waves])
def test_places_of_tables(function, first):
    for x in images():
        runs_alike(function, x)


@pytest.mark.parametrize("function", [by_pairs, by_columns, by_rows, waves])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3, 4)])
def test_no_places(function, shape, first):
    runs_alike(function, np.zeros(shape), native=None)


@pytest.mark.parametrize("function", [by_method, handed_out])
def test_places_of_rows(function, first):
    for x in (np.arange(9) % 3, np.arange(9)[::-1] % 2 > 0, np.array([0.0, np.nan, -0.0, 2.0])):
        runs_alike(function, x)


def test_places_of_a_table_one_after_the_other(first):
    for x in images():
        runs_alike(handed_out, x, native=None)


def discounted(x):
    best = 0.0
    for plane in x.tolist():
        for row in plane:
            for value in row:
                best = max(best * 0.99, value)
    return best


def pairs(x):
    clock, found = 0, {}
    for k, (gap, service) in enumerate(x.tolist()):
        clock = max(clock, gap) + service
        found[k] = (clock, gap, service)
    return found


def with_rows(x):
    table = x.tolist()
    for row in table:
        row.append(row[0])
        for k in range(1, len(row)):
            row[k] = row[k] + row[k - 1]
    return table


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "uint64"])
def test_lists_of_arrays(dtype, first):
    x = (np.random.RandomState(0).rand(4, 5, 2) * 9).astype(dtype)
    runs_alike(discounted, x)
    runs_alike(discounted, x.transpose(2, 0, 1))
    runs_alike(pairs, x[0])
    runs_alike(pairs, x[0][::-1])
    runs_alike(with_rows, x[:, :, 0])


def test_lists_of_what_has_no_elements(first):
    for shape in ((0, 3), (3, 0), (0, 0)):
        runs_alike(with_rows, np.zeros(shape), native=None)


def test_numbers_that_need_more_bits(first):
    runs_alike(with_rows, np.full((2, 2), 2**64 - 1, dtype=np.uint64), native=False)


def summed(rows, columns):
    total = 0
    for row, column in zip(rows, columns):
        total = total * 3 % 1009 + int(row) * 7 + int(column)
    return total


def swapped(rows, columns):
    for k in range(len(rows)):
        rows[k], columns[k] = columns[k] + k, rows[k] - k
    return rows


def test_arrays_that_share_their_places(first):
    """Those that are only read may; of others what one stores, the other one reads."""
    table = np.arange(12).reshape(6, 2)
    runs_alike(summed, *table.T)
    runs_alike(summed, table[0], table[0])
    runs_alike(summed, np.broadcast_to(np.int64(3), (4,)), table[:4, 1])
    for pair in (table.T, (table[0], table[0]), (table[:, 0], table[1:, 0])):
        lifted, mine, theirs = lift(swapped, verify="off"), np.copy(table), np.copy(table)
        views = [[_like(one, table, whole) for one in pair] for whole in (mine, theirs)]
        outcomes = outcome(lifted, views[0]), outcome(swapped, views[1])
        assert_equal(*outcomes)
        assert_equal(mine, theirs)


def _like(view, of, whole):
    """The view of another array at the places that one has."""
    offset = (view.__array_interface__["data"][0] - of.__array_interface__["data"][0]) // 8
    return np.lib.stride_tricks.as_strided(whole.reshape(-1)[offset:], view.shape, view.strides)
