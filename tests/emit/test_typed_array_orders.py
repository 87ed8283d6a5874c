"""In which order NumPy has the elements of what it makes: whether flat rows of them, and parts, are views."""

import numpy as np
import pytest
from tests.emit.container_programs import runs_alike
from tests.emit.test_typed_tensors import first

__all__ = ["first"]


def stacked(a, b, n):
    seen = {}
    for k in range(n):
        made = np.stack([a.T, b.T])
        flat = made.reshape(-1)
        flat[k] = 100.0
        seen[k] = made[0, 0, k] + made.sum()
    return seen


def stacked_last(a, b, n):
    seen = {}
    for k in range(n):
        made = np.stack([a, b.T.T], axis=2)
        flat = made.ravel()
        flat[k] = 100.0
        seen[k] = made[0, 0, 1] + made[0, k // 2, k % 2]
    return seen


def stacked_in_rows(a, b, n):
    seen = {}
    for k in range(n):
        made = np.array([a.T, b.T])
        made.ravel()[k] = 100.0
        seen[k] = made[0, 0, k]
    return seen


def stacked_steps(a, b, n):
    seen = {}
    for k in range(n):
        made = np.stack([a[0, ::2], b[:, 0][:2]], axis=1)
        made.reshape(-1)[k] = 100.0
        seen[k] = made.sum()
    return seen


def alike(a, b, n):
    seen = {}
    for k in range(n):
        zeros, ones, full = np.zeros_like(a.T), np.ones_like(b[::-1].T), np.full_like(a.T, 2.0)
        zeros.reshape(-1)[k] = 7.0
        ones.ravel()[k] = 8.0
        full.ravel()[k] = 9.0
        seen[k] = (zeros[0, k], ones[0, k], full[0, k])
    return seen


def alike_in_rows(a, b, n):
    seen = {}
    for k in range(n):
        zeros, ones = np.zeros_like(a), np.ones_like(b[:, ::-1])
        zeros.reshape(-1)[k] = 7.0
        ones.ravel()[k] = 8.0
        seen[k] = (zeros[0, k], ones[0, k])
    return seen


def computed(a, b, n):
    seen = {}
    for k in range(n):
        made = a.T * 2.0 + b.T
        made.ravel()[k] = 9.0
        seen[k] = made[0, k]
    return seen


def computed_backwards(a, b, n):
    seen = {}
    for k in range(n):
        made = a[::-1].T + 1.0
        made.reshape(-1)[k] = 9.0
        seen[k] = made[0, k]
    return seen


def turned_back(a, b, n):
    seen = {}
    for k in range(n):
        made = a.T - b.T
        made.T.ravel()[k] = 9.0
        seen[k] = made[k, 0]
    return seen


def row_of_computed(a, b, n):
    seen = {}
    for k in range(n):
        made = -a.T
        made[0].ravel()[k] = 9.0
        seen[k] = made[0, k]
    return seen


def chosen(a, b, n):
    seen = {}
    for k in range(n):
        made = np.where(a.T > 0, a.T, 2.0)
        kept, cut = np.delete(a.T, 0, axis=0), np.concatenate([a.T, b.T], axis=1)
        made.ravel()[k] = 9.0
        kept.ravel()[k] = 9.0
        cut.ravel()[k] = 9.0
        seen[k] = (made[0, k], kept[0, k], cut[0, k])
    return seen


def cast(a, b, n):
    seen = {}
    for k in range(n):
        made, same = a.T.astype(np.int64), np.array(b.T)
        made.ravel()[k] = 9
        same.ravel()[k] = 9.0
        seen[k] = (made[0, k], same[0, k])
    return seen


def copied(a, b, n):
    seen = {}
    for k in range(n):
        made, flat = a.T.copy(), b.T.flatten()
        made.ravel()[k] = 9.0
        flat.reshape(-1)[k] = 9.0
        seen[k] = (made[0, k], flat[k], np.flatnonzero(a.T + b.T > 0).sum(), made.sum())
    return seen


def summed(a, b, n):
    seen = {}
    for k in range(n):
        made = a.T + 0.1
        seen[k] = (made.sum(), np.mean(made * b.T), np.sqrt(made * made).sum())
    return seen


TURNED = [stacked, alike, computed, computed_backwards, turned_back, row_of_computed, chosen, cast, summed]
IN_ROWS = [stacked_last, stacked_in_rows, stacked_steps, alike_in_rows, copied]


def tables(rows, columns):
    r = np.random.RandomState(rows)
    return r.randn(rows, columns), r.randn(rows, columns)


@pytest.mark.parametrize("function", TURNED)
@pytest.mark.parametrize("rows, columns", [(3, 4), (5, 3), (11, 13)])
def test_flat_rows_of_what_is_like_turned_tables(function, rows, columns, first):
    runs_alike(function, *tables(rows, columns), 3, native=None)


@pytest.mark.parametrize("function", IN_ROWS)
@pytest.mark.parametrize("rows, columns", [(3, 4), (5, 3)])
def test_flat_rows_of_what_is_in_rows(function, rows, columns, first):
    runs_alike(function, *tables(rows, columns), 3)


def shown(x, least):
    """What masks and places pick is a copy: a store into a part of it is seen by nobody."""
    for k in range(3):
        x[x > least + k][:] = 7.0
        at = [0, k]
        x[at][:] = 7.0
        x[at][1:] += 1.0
        x[np.flatnonzero(x > least)][k] = 5.0
        x[k] += 1.0
    return x


def shown_of_tables(x, least):
    for k in range(2):
        x[x > least][:] = 4.0
        rows = [0, 1]
        x[rows][k] = 4.0
        x[rows][k, 1:] = 4.0
        x[:, rows][0][:] = 4.0
        x[1:][:, rows] += 4.0
        x[k][x[k] > least] = 0.5
    return x


def test_stores_into_parts_of_what_is_picked(first):
    runs_alike(shown, np.arange(8.0) - 2.0, -3.0)
    runs_alike(shown_of_tables, np.arange(12.0).reshape(3, 4) - 5.0, 1.0)
    for least in (-3.0, 0.5, 9.0):  # some raise
        runs_alike(shown, np.arange(6.0) - 2.0, least, native=None)
        runs_alike(shown_of_tables, np.arange(10.0).reshape(2, 5).T - 5.0, least, native=None)


def places_and_all(x, at, n):
    return [x[at, :].sum() for _ in range(n)]


def places_all_and_all(x, at, n):
    return [x[at, :, :].sum() for _ in range(n)]


def store_at_places_and_all(x, at, n):
    for _ in range(n):
        x[at, :] = 2.0
    return x


def store_at_all_and_all_and_places(x, at, n):
    for _ in range(n):
        x[:, :, at] = 2.0
    return x


def change_at_places_and_some(x, at, n):
    for k in range(n):
        x[at, : k + 1] += 2.0
    return x


def all_and_all_and_one(x, at, n):
    return [x[:, :, k].sum() for k in range(n)] + [at]


def store_at_too_many(x, at, n):
    for k in range(n):
        x[k, 0, k] = 1.0
    return x, at


EVERY = [
    places_and_all, places_all_and_all, store_at_places_and_all, store_at_all_and_all_and_places,
    change_at_places_and_some, all_and_all_and_one, store_at_too_many,
]  # fmt: skip


@pytest.mark.parametrize("function", EVERY)
def test_subscripts_tell_of_dimensions(function, first):
    vector, table, cube = np.arange(3.0), np.arange(6.0).reshape(2, 3), np.arange(30.0).reshape(2, 3, 5)
    for x in (vector, table, cube):
        for at in (np.array([0, 1]), [0, 1], x > 1, x.reshape(len(x), -1)[:, 0] > 0):
            runs_alike(function, x, at, 2, native=None)
    runs_alike(function, cube, cube[:, :, 0] > 3, 2, native=None)


def test_places_behind_a_mask_of_a_table(first):
    cube = np.arange(30.0).reshape(2, 3, 5)
    runs_alike(change_at_places_and_some, cube, cube[:, :, 0] > 3, 3)
