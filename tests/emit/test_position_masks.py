"""Comparisons of the positions of two loops, which are written as diagonals and triangles."""

from __future__ import annotations

import operator

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift

COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def compared(x, y, relation, out):
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            if relation(i, j):
                out[i, j] = x[i] * y[j]
    return out


@pytest.mark.parametrize("name", COMPARISONS)
def test_each_comparison(name):
    for rows, columns in ((4, 4), (3, 5), (5, 2), (1, 1), (2, 1), (0, 3), (3, 0)):
        x, y = torch.randn(rows, dtype=torch.float64), torch.randn(columns, dtype=torch.float64)
        relation, out = getattr(operator, name), torch.zeros(rows, columns, dtype=torch.float64)
        want, got = out.clone(), out.clone()
        compared(x, y, relation, want)
        lift(compared, backend="torch")(x, y, relation, got)
        assert torch.equal(got, want)


def shifted(x):
    n = x.shape[0]
    ahead = torch.zeros(n, n, dtype=x.dtype)
    for i in range(n):
        for j in range(n):
            if j > i + 1:
                ahead[i, j] += x[i] * x[j]
            if i - 2 >= j:
                ahead[i, j] += x[i] - x[j]
            if i + 1 == j:
                ahead[i, j] += 1
    return ahead


def above(x):
    total = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            total = total + (x[i] - x[j]).tanh()
    return total


def from_two_on(x):
    total = torch.zeros((), dtype=x.dtype)
    for i in range(1, x.shape[0]):
        for j in range(2, x.shape[0]):
            if j >= i - 1 and j != i:
                total = total + x[i] * x[j].exp()
    return total


def turned(x):
    n = x.shape[0]
    out = torch.zeros(n, n, dtype=x.dtype)
    for j in range(n):
        for i in range(n):
            out[i, j] = x[i].exp() if i < j else x[j].sin()
    return out


@pytest.mark.parametrize("function", [shifted, above, from_two_on, turned])
def test_positions_that_are_moved(function):
    values = [[torch.randn(n, dtype=torch.float64)] for n in (6, 3, 2, 1)]
    check(function, *values, decisions={"lanes"})


def test_they_are_triangles():
    lifted = lift(above, backend="torch")
    lifted(torch.randn(5))
    assert ".triu_()" in lifted.source and "arange" not in lifted.source


def to_others(x, y):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            if i != j:
                out[i] = out[i] + torch.tanh(x[i] * y[j]) / (y[i] - y[j]).abs()
    return out


def table_of_pairs(x, y):
    rows = []
    for i in range(x.shape[0]):
        row = []
        for j in range(x.shape[0]):
            near = torch.exp(x[i] - y[j])
            if j == i:
                near = torch.full_like(near, -1.0)
            row.append(near)
        rows.append(torch.stack(row))
    return torch.stack(rows), x * 2


@pytest.mark.parametrize("function", [to_others, table_of_pairs])
def test_values_beside_a_diagonal(function):
    for sizes in ((5, 5), (2, 2), (1, 1), (6, 6)):
        values = [torch.randn(size, dtype=torch.float64) for size in sizes]
        check(function, values)


def test_values_beside_a_diagonal_in_graphs_and_under_transforms():
    x, y = torch.randn(4, 5, dtype=torch.float64), torch.randn(5, dtype=torch.float64)
    lifted = lift(to_others, backend="torch")
    lifted(x[0], y)
    assert "fill_diagonal(" in lifted.source
    wanted = torch.stack([to_others(row, y) for row in x])
    torch.testing.assert_close(torch.vmap(lifted, in_dims=(0, None))(x, y), wanted)
    slopes = torch.func.jacrev(lambda row: to_others(row, y))(x[0])
    torch.testing.assert_close(torch.func.jacrev(lambda row: lifted(row, y))(x[0]), slopes)
