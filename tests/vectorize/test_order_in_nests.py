"""Nests that read the array they store into: whether places of several iterations meet, by both indices together."""

from __future__ import annotations

import pytest
import torch

from looplift import lift


def diagonal(a, b):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i - 1, j - 1] + b[i, j]
    return a


def diagonal_of_three(a, b):
    c = torch.zeros(a.shape[0], a.shape[1], 3, dtype=a.dtype)
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            for k in range(1, 3):
                c[i, j, k] = 0.5 * c[i - 1, j - 1, k - 1] + b[i, j]
    return c


def chosen_diagonal(a, b):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            if b[i, j] > 0:
                a[i, j] = a[i - 1, j - 1] + b[i, j]
            else:
                a[i, j] = b[i, j]
    return a


def above(a, b):
    for i in range(a.shape[0] - 1):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i + 1, j - 1] + b[i, j]
    return a


def first_row_and_column(a, b):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i, 0] * b[i, j] + a[0, j]
    return a


def updated_diagonals(a, b):
    line = torch.ones(a.shape[0] + a.shape[1], dtype=a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            k = i + j
            line[k] = line[k] * 0.5 + a[i, j]
    return line


def read_before_stored(a, b):
    line = torch.ones(a.shape[0] + a.shape[1], dtype=a.dtype)
    kept = torch.zeros(a.shape[0] + a.shape[1], dtype=a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            k = i + j
            kept[k] = line[k] + 1
            line[k] = a[i, j]
    return line, kept


def place_that_is_looked_up(a, b):
    at = torch.zeros(1, dtype=torch.int64)
    for i in range(1, a.shape[0]):
        k = int(at[0])
        a[k + 1, 0] = a[k, 0] + b[i, 0]
        at[0] = i - 1
    return a


PROGRAMS = [
    diagonal, diagonal_of_three, chosen_diagonal, above, first_row_and_column, updated_diagonals, read_before_stored,
    place_that_is_looked_up,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_what_an_iteration_reads_is_what_the_ones_before_left(program):
    generator = torch.Generator().manual_seed(0)
    calls = [[torch.randn(n, m, generator=generator, dtype=torch.float64) for _ in "ab"] for n, m in ((5, 6), (6, 4))]
    for backend in ("auto", "torch", "native"):
        lifted = lift(program, verify="off", backend=backend)
        for a, b in calls:
            mine, theirs = a.clone(), a.clone()
            torch.testing.assert_close(lifted(mine, b), program(theirs, b))
            torch.testing.assert_close(mine, theirs)


def rows_above(a, b):
    for x in range(1, a.shape[0]):
        for n in range(a.shape[1] - 1):
            a[x, n + 1] = a[x, n] + b[x, n]
    return a


def test_iterations_that_do_not_meet_run_in_lanes():
    rows = torch.randn(5, 6, dtype=torch.float64)
    lifted = lift(rows_above, verify="off", backend="torch")
    torch.testing.assert_close(lifted(rows.clone(), rows), rows_above(rows.clone(), rows))
    assert lifted.report().loops[0].decision == "lanes"
