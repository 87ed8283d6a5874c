"""Stores on both sides of a diagonal, reads below or above the place of a store, and ranges that may be empty."""

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def both_sides(x):
    n = x.shape[0]
    table = torch.zeros(n, n, dtype=x.dtype)
    for i in range(n):
        for j in range(i + 1, n):
            distance = ((x[i] - x[j]) ** 2).sum()
            table[i, j] = distance
            table[j, i] = -distance
    return table


def with_the_diagonal(x):
    n = x.shape[0]
    table = torch.zeros(n, n, dtype=x.dtype)
    for i in range(n):
        for j in range(i, n):
            table[j, i] = x[i, 0] * x[j, 1]
            table[i, j] = x[i, 1] + x[j, 0]
    return table


def copied_over(x):
    n = x.shape[0]
    table = torch.zeros(n, n, dtype=x.dtype)
    for i in range(n):
        for j in range(i):
            table[i, j] = x[i, 0] - x[j, 1]
            table[j, i] = 2 * table[i, j]
    return table


def downwards(x):
    n = x.shape[0]
    table = torch.zeros(n + 1, n + 1, dtype=x.dtype)
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, i, -1):
            table[i, j + 1] = x[i, 0]
            table[j + 1, i] = x[j, 1]
    return table


def where_positive(x):
    n = x.shape[0]
    table = torch.zeros(n, n, dtype=x.dtype)
    for i in range(n):
        for j in range(i, n):
            if x[i, 0] > 0:
                table[i, j] = x[i, 1]
            if x[j, 1] > 0:
                table[j, i] = x[j, 0]
    return table


def on_all_places(x):
    n = x.shape[0]
    table = torch.zeros(n, n, dtype=x.dtype)
    for i in range(n):
        for j in range(n):
            table[i, j] = x[i, 0] * x[j, 1]
            table[j, i] = x[i, 1]
    return table


def beyond_the_diagonal(x):
    n = x.shape[0]
    table = torch.zeros(n, n, dtype=x.dtype)
    for i in range(1, n):
        for j in range(i - 1, n):
            table[i, j] = x[i, 0] * x[j, 1]
            table[j, i] = x[i, 1]
    return table


def from_the_end(x):
    n = x.shape[0]
    table = torch.zeros(n, n, dtype=x.dtype)
    for i in range(-n, 0):
        for j in range(i + 1, 1):
            table[i, j] = x[i, 0]
            table[j, i] = x[j, 1]
    return table


def again_and_again(x):
    n = x.shape[0]
    table = torch.zeros(n, n, dtype=x.dtype)
    for k in range(x.shape[1]):
        for i in range(n):
            for j in range(i, n):
                if x[i, k] > 0:
                    table[i, j] = x[j, k]
                if x[j, k] < 0.5:
                    table[j, i] = x[i, k] * 2
    return table


def on_the_diagonal(x):
    n = x.shape[0]
    table = torch.zeros(n, n, dtype=x.dtype)
    for i in range(n):
        for j in range(n):
            table[j, j] += x[j, 0]
        table[i, i] = x[1 % n, 1]
    return table


TABLES = {
    both_sides: {"lanes"}, with_the_diagonal: {"lanes"}, copied_over: {"lanes"}, where_positive: {"lanes"},
    downwards: {"kept"}, on_all_places: {"sequential"}, beyond_the_diagonal: {"sequential"}, from_the_end: {"kept"},
    again_and_again: {"sequential", "lanes"}, on_the_diagonal: {"sequential", "lanes"},
}  # fmt: skip


@pytest.mark.parametrize("loop", TABLES)
def test_tables_are_those_of_the_loop(loop):
    calls = [[torch.randn(n, 3, dtype=torch.float64)] for n in (2, 3, 7, 1, 12)]
    check(loop, *calls, decisions=TABLES[loop])


def eliminated(a):
    a = a.clone()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            for j in range(k, n):
                a[i, j] = a[i, j] - factor * a[k, j]
    return a


def eliminated_upwards(a):
    a = a.clone()
    for k in range(a.shape[0] - 1, -1, -1):
        for i in range(k):
            a[i] = a[i] - a[k] * (a[i, k] / a[k, k])
    return a


def read_below(a):
    a = a.clone()
    for k in range(1, a.shape[0]):
        for i in range(k - 1, a.shape[0]):
            a[i, 0] = a[i, 1] + a[k, 0]
    return a


ROWS = {eliminated: {"sequential", "lanes"}, eliminated_upwards: {"sequential", "lanes"}, read_below: {"kept"}}


@pytest.mark.parametrize("loop", ROWS)
def test_rows_that_meet_those_behind_them(loop):
    calls = [[torch.randn(n, n, dtype=torch.float64) + 3 * torch.eye(n, dtype=torch.float64)] for n in (3, 2, 6, 9)]
    check(loop, *calls, decisions=ROWS[loop], gradients=False)  # which the loop does not give


def total_of_later_rows(x):
    total, found = torch.zeros(x.shape[1], dtype=x.dtype), []
    state = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        total = torch.tanh(total + x[i])
        for j in range(i + 1, x.shape[0]):
            state = state * 0.5 + (x[j] * total).sum() * state.cos()
        found.append(state)
    return torch.stack(found)


def count_of_smaller(x):
    best, place = x[0, 0] * 0, -1
    for i in range(x.shape[0]):
        best = best * 0.5 + x[i, 0]
        seen = 0
        for j in range(i):
            if x[j, 0] < best:
                seen += 1
                place = j
        best = best + seen * best * best * 0.01
    return best, place


def longest_so_far(x):
    best = x[0] * 0
    for i in range(x.shape[0]):
        row = x[i] * 0.5 + best
        for j in range(i - 2):
            row = torch.maximum(row, x[j] * best)
        best = torch.tanh(row)
    return best


EMPTY = {
    total_of_later_rows: {"sequential"}, count_of_smaller: {"sequential", "scan"},
    longest_so_far: {"sequential", "lanes"},
}  # fmt: skip


@pytest.mark.parametrize("loop", EMPTY)
def test_ranges_that_are_empty_in_some_iterations(loop):
    calls = [[torch.randn(n, 3, dtype=torch.float64)] for n in (1, 4, 2, 9)]
    check(loop, *calls, decisions=EMPTY[loop])


def a_number_where_it_is_empty(x):
    state, found = torch.zeros((), dtype=torch.float32), []
    for i in range(x.shape[0]):
        state = torch.tanh(state * 0.5)
        total = 0.0
        for j in range(i):
            total = total + x[j, 0] * state
        found.append((state + total).dtype == torch.float64)
    return found


def test_what_is_a_number_where_a_range_is_empty_stays_one():
    lifted = lift(a_number_where_it_is_empty, backend="torch", verify="off")
    for n in (1, 4, 2):
        x = torch.randn(n, 3, dtype=torch.float64)
        assert [lifted(x), lifted(x)] == [a_number_where_it_is_empty(x)] * 2
