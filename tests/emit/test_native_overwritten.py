"""Arrays whose elements are all stored before one is read are not filled; others are."""

import numpy as np
import pytest
import torch

from looplift import lift


def table(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                out[i, j] = x[i, j] * 2
            else:
                out[i, j] = -1.0
    return out


def turned(x):
    n, m = x.shape
    out = torch.zeros(m, n)
    for i in range(n):
        for j in range(m):
            out[j, i] = x[i, j] + i
    return out


def of_computed_size(x):
    out = torch.zeros(x.shape[0] + 1)
    for i in range(x.shape[0] + 1):
        out[i] = i * 2.0
    return out


def some_places(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                out[i, j] = x[i, j]
    return out


def from_the_second(x):
    out = torch.zeros(x.shape[0], x.shape[1])
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j]
    return out


def of_another_size(x):
    out = torch.zeros(x.shape[0] + 1, x.shape[1])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j]
    return out


def the_diagonal(x):
    out = torch.zeros(x.shape[0], x.shape[0])
    for i in range(x.shape[0]):
        out[i, i] = x[i, 0]
    return out


def read_on_the_way(x):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = out[i - 1] * 0.5 + x[i, 0]
    return out


def added_to(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] += x[i, j]
    return out


def until_one_is_large(x):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = x[i, 0]
        if x[i, 0] > 0.5:
            break
    return out


def in_steps(x):
    out = torch.zeros(x.shape[0])
    for i in range(0, x.shape[0], 2):
        out[i] = x[i, 0]
    return out


def once_more_than_it_may_run(x):
    out = torch.zeros(x.shape[0])
    for _ in range(x.shape[1] - 4):
        for i in range(x.shape[0]):
            out[i] = x[i, 0]
    return out


def read_before(x):
    out, total = torch.zeros(x.shape[0]), 0.0
    for i in range(x.shape[0]):
        total += float(out[i]) + 1.0
    for i in range(x.shape[0]):
        out[i] = x[i, 0] * total
    return out


FILLED = [
    some_places, from_the_second, of_another_size, the_diagonal, read_on_the_way, added_to, until_one_is_large,
    in_steps, once_more_than_it_may_run, read_before,
]  # fmt: skip


def dirty():
    """Memory that was in use, so that what is not set is seen."""
    kept = [torch.full((n, 4), 7.25) for n in range(1, 12) for _ in range(20)]
    kept += [np.full((n, 4), 7.25) for n in range(1, 12) for _ in range(20)]
    return len(kept)


@pytest.mark.parametrize("function", [table, turned, of_computed_size, *FILLED])
@pytest.mark.parametrize("shape", [(3, 4), (5, 3), (1, 1), (6, 6)])
def test_results(function, shape):
    x = torch.rand(shape, generator=torch.Generator().manual_seed(sum(shape))) - 0.5
    lifted = lift(function, backend="native", verify="off")
    for _ in range(3):
        dirty()
        torch.testing.assert_close(lifted(x), function(x))


@pytest.mark.parametrize("function", [table, turned, of_computed_size])
def test_what_is_overwritten_is_not_filled(function):
    lifted = lift(function, backend="native", verify="off")
    lifted(torch.randn(5, 4))
    assert "_kernel(" in lifted.source
    assert ".fill(" not in lifted.source


@pytest.mark.parametrize("function", FILLED)
def test_all_else_is_filled(function):
    lifted = lift(function, backend="native", verify="off")
    lifted(torch.randn(5, 4))
    assert "_kernel(" in lifted.source
    assert ".fill(" in lifted.source


def numpy_table(x):
    out = np.zeros((len(x), 2))
    for i in range(len(x)):
        for j in range(2):
            out[i, j] = x[i] * j
    return out


def test_arrays_of_numpy():
    lifted = lift(numpy_table, backend="native", verify="off")
    for n in (0, 1, 7):
        dirty()
        np.testing.assert_array_equal(lifted(np.arange(float(n))), numpy_table(np.arange(float(n))))
    assert ", false, {" in lifted.source


def anew_in_each_iteration(x):
    state = x[0].copy()
    for t in range(1, x.shape[0]):
        new = np.zeros(x.shape[1])
        for j in range(x.shape[1]):
            best = -np.inf
            for k in range(x.shape[1]):
                if state[k] > best:
                    best = state[k]
            new[j] = best * 0.5 + x[t, j]
        state = new
    return state


def test_arrays_that_are_made_in_a_loop():
    lifted = lift(anew_in_each_iteration, backend="native", verify="off")
    for shape in ((1, 3), (4, 2), (6, 5)):
        x = np.random.default_rng(0).normal(size=shape)
        dirty()
        np.testing.assert_array_equal(lifted(x), anew_in_each_iteration(x))
    assert "_kernel(" in lifted.source
    assert ".fill(" not in lifted.source


def rows_of_one(n, m):
    row = torch.full((m,), 3.0)
    out = torch.zeros(n, m)
    for i in range(n):
        out[i] = row
    return out


def columns_of_one(n, m):
    column, out = torch.ones(n), torch.zeros(n, m)
    for j in range(m):
        out[:, j] = column
    return out, column * 2


def rows_of_one_of_numpy(n, m):
    row, out = np.full(m, 2.0), np.zeros((n, m))
    for i in range(n):
        out[i, :] = row
    return out


def row_and_its_own(n, m):
    row = torch.ones(m)
    for i in range(n):
        row[:] = row
    return row


@pytest.mark.parametrize("backend", ("native", "auto", "torch"))
@pytest.mark.parametrize("function", (rows_of_one, columns_of_one, rows_of_one_of_numpy, row_and_its_own))
def test_what_is_stored_into_another_array_is_filled(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for n, m in ((3, 2), (2, 3), (4, 4), (1, 5)):
        dirty()
        found, expected = lifted(n, m), function(n, m)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
