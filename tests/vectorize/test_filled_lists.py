"""Lists made at full length and filled place by place, and lists of lists."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check, outcome
from tests.vectorize.test_distribution import matrix

from looplift import lift
from looplift.base.compare import difference


def doubled(x):
    n = x.shape[0]
    out = [None] * n
    for i in range(n):
        out[i] = x[i] * 2
    return out


def differences(x):
    sums, found = [None] * x.shape[0], []
    for i in range(x.shape[0]):
        sums[i] = x[i].sum()
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            if i <= j:
                found.append(sums[i] - sums[j])
    return torch.stack(found), len(sums), sums[-1]


def similarities(x):
    n = x.shape[0]
    table = [[0.0] * n for _ in range(n)]
    for a in range(n):
        for b in range(n):
            table[a][b] = torch.dot(x[a], x[b])
    out = torch.zeros(n, dtype=x.dtype)
    for a in range(n):
        rest = 0.0
        for b in range(n):
            if a != b:
                rest = rest + torch.exp(-table[a][b].abs())
        out[a] = table[a][(a + 1) % n] - torch.log(rest + 1)
    return out


def stacked_rows(x):
    n, m = x.shape
    out = [[None] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            out[i][j] = x[i, j] * 2
    return torch.stack([torch.stack(row) for row in out])


def grown_rows(x):
    rows = []
    for i in range(x.shape[0]):
        row = []
        for j in range(x.shape[1]):
            row.append(x[i, j] * 3)
        rows.append(row)
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total = total + rows[i][j] * rows[0][j]
    return total


@pytest.mark.parametrize("function", [doubled, differences, similarities, stacked_rows, grown_rows])
def test_lists_that_are_filled_are_lanes(function):
    check(function, [matrix(5, 7)], [matrix(3, 3)], [matrix(2, 1)], decisions={"lanes"})


def numbers(x):
    rows = [[0.0] * x.shape[1] for _ in range(x.shape[0])]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            rows[i][j] = float(x[i, j]) * 2
    return rows


def distances(x):
    n = x.shape[0]
    rows = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            rows[i][j] = np.abs(x[i] - x[j]).sum()
    return np.array(rows)


def test_lists_of_lists_of_numbers():
    check(numbers, [matrix(4, 5)], [matrix(2, 1)], gradients=False, decisions={"lanes"})
    check(distances, [matrix(4, 5).numpy()], [matrix(2, 1).numpy()], gradients=False, decisions={"lanes"})


def too_long(x):
    out = [None] * (x.shape[0] + 1)
    for i in range(x.shape[0]):
        out[i] = x[i] * 2
    return out


def looks_back(x):
    out = [x[0]] * x.shape[0]
    for i in range(x.shape[0]):
        out[i] = x[i] * 2 + out[i - 1]
    return out


def same_row(x):
    rows = [[0.0] * x.shape[1]] * x.shape[0]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            rows[i][j] = float(x[i, j])
    return rows


def one_row_twice(x):
    rows = []
    for i in range(x.shape[0]):
        row = []
        for j in range(x.shape[1]):
            row.append(x[i, j] * 2)
        rows.append(row)
        rows.append(row)
    return [torch.stack(row) for row in rows]


def shared_row(x):
    rows, row = [], []
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            row.append(x[i, j] * 2)
        rows.append(row)
    return [len(row) for row in rows]


def grows_later(x):
    rows = []
    for i in range(x.shape[0]):
        row = []
        for j in range(x.shape[1]):
            row.append(x[i, j] * 2)
        rows.append(row)
    for row in rows:
        row.append(x[0, 0])
    return [torch.stack(row) for row in rows]


def views(x):
    out = [None] * x.shape[0]
    for i in range(x.shape[0]):
        out[i] = x[i]
    x.add_(1)
    return torch.stack(out)


@pytest.mark.parametrize("function", [too_long, looks_back, same_row, one_row_twice, shared_row, grows_later, views])
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_what_is_no_list_that_grows_stays_right(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for values in ([matrix(4, 5)], [matrix(2, 2)], [matrix(1, 3)]):
        why = difference(outcome(lifted, values, gradients=False), outcome(function, values, gradients=False))
        assert not why, why


def greatest(rows):
    total = 0.0
    for row in rows:
        total = total + max(row)
    return total


def test_an_operation_on_a_whole_list_of_each_iteration():
    lifted = lift(greatest, verify="off", backend="torch")
    rows = [[torch.tensor(float(i * j)) for i in range(3)] for j in range(4)]
    assert torch.equal(lifted(rows), greatest(rows))
    assert lifted([[1.0, 2.0], [3.0], [4.0, -1.0]]) == 9.0
