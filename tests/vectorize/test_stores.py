"""Stores into places that repeat, under masks and by index tensors; updates of a place by what it holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift
from looplift.base.compare import difference

CASES = []


def case(*calls, grad=True):
    def registered(function):
        CASES.append((function, [list(call) for call in calls], grad))
        return function

    return registered


def normal(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape) + len(shape)))


def integers(high, *shape):
    return torch.randint(0, high, shape, generator=torch.Generator().manual_seed(high))


def normal_array(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


def integer_array(high, *shape):
    return np.random.default_rng(high).integers(0, high, size=shape)


@case((normal(4, 9), integers(5, 4, 9)), (normal(1, 9), integers(5, 1, 9)))
def hist_rows(w, k):
    out = torch.zeros(w.shape[0], 5)
    for b in range(w.shape[0]):
        for i in range(w.shape[1]):
            out[b, k[b, i]] += w[b, i]
    return out


@case((normal(4, 9), integers(5, 4, 9)))
def hist_inner(w, k):
    rows = []
    for b in range(w.shape[0]):
        h = torch.zeros(5)
        for i in range(w.shape[1]):
            h[k[b, i]] += w[b, i]
        rows.append(h / h.sum())
    return torch.stack(rows)


@case((normal(4, 9), integers(5, 4, 9)), grad=False)
def max_inner(w, k):
    rows = []
    for b in range(w.shape[0]):
        h = torch.full((5,), -5.0)
        for i in range(w.shape[1]):
            h[k[b, i]] = max(h[k[b, i]], w[b, i])
        rows.append(h)
    return torch.stack(rows)


@case((normal(3, 9), integers(5, 9)))
def col_add(w, k):
    out = torch.zeros(3, 5)
    for i in range(9):
        out[:, k[i]] += w[:, i]
    return out


@case((normal(3, 9), integers(5, 9)))
def col_set(w, k):
    out = torch.zeros(3, 5)
    for i in range(9):
        out[:, k[i]] = w[:, i]
    return out


@case((normal(3, 9), integers(5, 9)))
def cut_set(w, k):
    out = torch.zeros(5, 6)
    for i in range(9):
        out[k[i], 1:4] = w[:, i]
    return out


@case((normal(9, 4), integers(5, 9)), grad=False)
def minrows(x, k):
    out = torch.full((5, 4), 9.0)
    for i in range(9):
        out[k[i]] = torch.minimum(x[i], out[k[i]])
    return out


@case((normal(6, 3), integers(6, 20, 2), normal(20)), (normal(1, 3), integers(1, 4, 2), normal(4)))
def both_ends(x, edges, w):
    sums, degree = torch.zeros_like(x), torch.zeros(len(x))
    for k in range(len(edges)):
        u, v = edges[k, 0], edges[k, 1]
        sums[u] += x[v] * w[k]
        sums[v] += x[u]
        degree[u] += 1
        degree[v] += 1
    return sums, degree


@case((normal(6), integers(6, 20, 2), normal(20)))
def laplacian(x, edges, w):
    matrix = torch.zeros(len(x), len(x))
    for k in range(len(edges)):
        u, v = edges[k]
        if w[k] > -0.5:
            matrix[u, u] += w[k]
            matrix[v, v] += w[k]
        matrix[u, v] -= w[k]
        matrix[v, u] -= w[k]
    return matrix


@case((normal(6, 3),), (normal(2, 3),))
def forces(x):
    found = torch.zeros_like(x)
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            pull = (x[i] - x[j]) / ((x[i] - x[j]).pow(2).sum() + 1)
            found[i] = found[i] + pull
            found[j] = found[j] - pull
    return found


@case((normal_array(9), integer_array(5, 9, 2)), grad=False)
def stiffness(w, k):
    matrix = np.zeros((5, 5))
    for e in range(len(w)):
        a, b = k[e]
        matrix[a, a] += w[e]
        matrix[b, b] += w[e]
        matrix[a, b] -= w[e]
        matrix[b, a] -= w[e]
    return matrix


@case((normal(9), integers(5, 9), integers(4, 9)))
def two_place(x, a, b):
    out = torch.zeros(5, 4)
    for i in range(9):
        if x[i] > 0:
            out[a[i], b[i]] = out[a[i], b[i]] + x[i]
    return out


@case((normal(6, 7),))
def colsum(x):
    out = torch.zeros(7)
    for i in range(6):
        for j in range(7):
            out[j] += x[i, j] * 2
    return out


@case((normal(6, 7),))
def rowsum_if(x):
    out = torch.zeros(6)
    for i in range(6):
        for j in range(7):
            if x[i, j] > 0:
                out[i] = out[i] + x[i, j]
    return out


@case((normal(6, 7),))
def rowcount(x):
    out = torch.zeros(6, dtype=torch.long)
    for i in range(6):
        for j in range(7):
            if x[i, j] > 0:
                out[i] += 1
    return out


@case((normal(6, 5), normal(5, 7)))
def matm(a, b):
    out = torch.zeros(6, 7)
    for i in range(6):
        for j in range(7):
            for k in range(5):
                out[i, j] += a[i, k] * b[k, j]
    return out


@case((normal_array(6, 5), normal_array(5, 7)), grad=False)
def npmatm(a, b):
    out = np.zeros((6, 7))
    for i in range(6):
        for j in range(7):
            for k in range(5):
                out[i][j] += a[i][k] * b[k][j]
    return out


@case((normal_array(6, 5), integer_array(4, 6)), grad=False)
def npmin(a, k):
    out = np.full((4, 5), 9.0)
    for i in range(6):
        out[k[i]] = np.minimum(out[k[i]], a[i])
    return out


@case((normal_array(4, 9), integer_array(5, 4, 9)), grad=False)
def np_hist(w, k):
    out = np.zeros((4, 5))
    for b in range(4):
        for i in range(9):
            out[b, k[b, i]] += w[b, i]
    return out


@case((normal_array(9), integer_array(12, 9)), grad=False)
def np_oob(x, k):
    out = np.zeros(5)
    for i in range(9):
        if k[i] < 5:
            out[k[i]] = x[i]
    return out


@case((normal_array(9), integer_array(5, 9)), grad=False)
def np_prod(x, k):
    out = np.ones(5)
    for i in range(9):
        out[k[i]] *= x[i]
    return out


@case((normal(9), torch.zeros(5)), (normal(3), torch.zeros(5)), (normal(1), torch.zeros(1)), grad=False)
def shift_in(x, out):
    for i in range(len(x)):
        if i - 2 >= 0 and i - 2 < out.shape[0]:
            out[i - 2] = x[i]
    return out


@case((normal(6), normal(6)), (normal(1), normal(1)), grad=False)
def read_masked(x, y):
    t = torch.zeros(6)
    for i in range(x.shape[0]):
        if x[i] > 0:
            t[i] = y[i]
    return t


@case((normal(6, 8),), grad=False)
def mx(x):
    out = torch.full((6,), -9.0)
    for i in range(6):
        for j in range(8):
            if x[i, j] > out[i]:
                out[i] = x[i, j]
    return out


@case((integers(9, 6, 8),), grad=False)
def mxi(x):
    out = torch.zeros(6, dtype=torch.long)
    for i in range(6):
        for j in range(8):
            out[i] = torch.maximum(out[i], x[i, j])
    return out


@case((torch.tensor([1.0, float("nan"), 3.0, 2.0]), integers(2, 4)), grad=False)
def nanmax2(x, k):
    out = torch.zeros(2)
    for i in range(4):
        out[k[i]] = torch.maximum(out[k[i]], x[i])
    return out


@case((normal(5, 4), integers(7, 5, 3), normal(5, 3, 4)), grad=False)
def wide_store(x, a, v):
    out = torch.zeros(7, 4)
    for i in range(5):
        out[a[i]] = v[i]
    return out


@case((normal(5, 4), integers(7, 5, 3)), grad=False)
def wide_store2(x, a):
    out = torch.zeros(5, 7)
    for i in range(5):
        out[i, a[i]] = 1.0
    return out


@case((normal(5, 7), integers(7, 5, 3), normal(5, 3)))
def wide_store3(x, a, v):
    out = torch.zeros(5, 7)
    for i in range(5):
        out[i][a[i]] = v[i] * 2
    return out


@case((integers(7, 9),), (integers(7, 1),), grad=False)
def onehot(k):
    out = torch.zeros(len(k), 7)
    for i in range(len(k)):
        out[i, k[i]] = 1
    return out


@case((integers(7, 9) - 3,), grad=False)
def negidx(k):
    out = torch.zeros(7)
    for i in range(len(k)):
        out[k[i]] += 1
    return out


@pytest.mark.parametrize(("loop", "calls", "gradients"), CASES, ids=[function.__name__ for function, _, _ in CASES])
def test_the_lanes_do_what_the_loop_does(loop, calls, gradients):
    check(loop, *calls, gradients=gradients)


def number_if_told(out, x, told):
    for i in range(len(x)):
        if told[0] > 0:
            out[i] = 0.5
    return out


def item_if_told(out, x, told):
    for i in range(len(x)):
        if told[0] > 0:
            out[i] = x[i, 0]
    return out


def item_or_row(out, x, told):
    for i in range(len(x) - 1):
        if told[0] > 0:
            out[i + 1] = x[i, 0]
        else:
            out[i + 1] = x[i]
    return out


def number_from_item(out, x, told):
    for i in range(len(x)):
        if told[0] > 0:
            out[i].fill_(x[i, 0].item())
    return out


def item_under_both(out, x, told):
    for i in range(len(x)):
        if told[0] > 0:
            if x[i, 0] > 0:
                out[i] = x[i, 0]
    return out


@pytest.mark.parametrize("told", [1.0, -1.0])
@pytest.mark.parametrize("function", [number_if_told, item_if_told, item_or_row, number_from_item, item_under_both])
def test_one_item_for_a_whole_row_under_a_condition_that_all_share(function, told):
    for shape in ((3, 4), (2, 1), (3, 3)):
        x = torch.randn(shape, generator=torch.Generator().manual_seed(3))
        check(function, [torch.zeros(shape), x, torch.tensor([told])], gradients=False)


def test_numbers_that_are_read_from_an_array_before_it_changes_are_not_copied():
    def eliminated(a, b):
        for k in range(len(b) - 1):
            p = k + int(np.argmax(np.abs(a[k:, k])))
            if p != k:
                a[[k, p]] = a[[p, k]]
                b[[k, p]] = b[[p, k]]
            for i in range(k + 1, len(b)):
                f = a[i, k] / a[k, k]
                a[i, k:] -= f * a[k, k:]
                b[i] -= f * b[k]
        return a, b

    lifted: Any = lift(eliminated, verify="off")
    for size in (5, 4, 7):
        r = np.random.default_rng(size)
        a, b = r.random((size, size)), r.random(size)
        for got, want in zip(lifted(a.copy(), b.copy()), eliminated(a.copy(), b.copy()), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9)
    assert all(record.code != "internal" for record in lifted.report().loops)


def test_the_last_row_that_a_loop_picks_is_a_view():
    def picked(x, places):
        row = x[0]
        for place in places:
            row = x[place]
        return row

    def shifted(x, places):
        row = x[0]
        for k in range(x.shape[0]):
            row = x[(k + places[0]) % x.shape[0]]
        return row

    for function in (picked, shifted):
        lifted = lift(function, verify="off")
        x, y = torch.arange(12.0).reshape(4, 3), torch.arange(12.0).reshape(4, 3)
        for tensor, call in ((x, lifted), (y, function)):
            call(tensor, [2, 0, 1]).add_(100)
        assert torch.equal(x, y)


def scaled_after(x, edges):
    out = x * 1
    for k in range(len(edges)):
        u, v = edges[k]
        out[u] += 0.5
        out[v] *= 0.5
    return out


def set_after(x, edges):
    out = x * 1
    for k in range(len(edges)):
        u, v = edges[k]
        out[u] += 0.5
        out[v] = 0.25
    return out


def read_between(x, edges):
    out, count = x * 1, 0
    for k in range(len(edges)):
        u, v = edges[k]
        out[u] += 0.5
        out[v] += 0.25
        if out[u] > 1:
            count += 1
    return out, count


@pytest.mark.parametrize("program", [scaled_after, set_after, read_between], ids=lambda p: p.__name__)
def test_several_statements_of_which_some_do_not_add_keep_their_order(program):
    check(program, [normal(6), integers(6, 20, 2)], gradients=False, decisions={"sequential"})


def later_places(x, c):
    out, n = torch.zeros(len(x)), len(x)
    for i in range(n):
        k = i
        while k < n:
            out[k] = x[i]
            k = k + 1
    return out


def from_the_diagonal_on(x, c):
    out, n, last = torch.zeros(len(x)), len(x), []
    for i in range(n):
        h = torch.zeros(())
        for j in range(i, n):
            h = torch.tanh(h * 0.5 + c[i, j])
            out[j] = h
        last.append(h)
    return out, torch.stack(last)


def halved_until_small(x, c):
    out, n = torch.zeros(len(x)), len(x)
    for i in range(n):
        z, k = x[i], 0
        while z > 0.1 and k < n:
            z = z * 0.5
            out[k] = z
            k += 1
    return out


@pytest.mark.parametrize("program", [later_places, from_the_diagonal_on, halved_until_small], ids=lambda p: p.__name__)
@pytest.mark.parametrize("backend", ["torch", "auto"])
def test_steps_of_a_loop_that_stays_store_in_the_order_of_the_loop_around_it(program, backend):
    lifted = lift(program, verify="off", backend=backend)
    for n in (7, 3, 1):
        x, c = normal(n), normal(n, n)
        assert difference(lifted(x, c), program(x, c)) is None
