"""``reversed`` of a tensor is a copy of it, of an array or a list it is not."""

from typing import Any

import numpy as np
import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def changed_in_its_rows(x, y):
    for row in reversed(x):
        row[0] = 9.0
    return x


def changed_beside(x, y):
    for a, b in zip(reversed(x), y):
        a += b
    return x


def changed_while_it_is_read(x, y):
    out, i = y * 0, 0
    for row in reversed(x):
        out[i] = row
        x[i] = 100.0 + i
        i += 1
    return x, out


def changed_by_number(x, y):
    for i, row in enumerate(reversed(x)):
        x[i] = row * 2
    return x


def changed_by_a_function(x, y):
    def put(i, row):
        x[i] = row + 1

    for i, row in enumerate(reversed(x)):
        put(i, row)
    return x


def of_a_computed_one(x, y):
    z = x * 2
    i = 0
    for row in reversed(z):
        z[i] = row - 1
        i += 1
    return z


def of_a_part(x, y):
    i = 1
    for row in reversed(x[1:]):
        x[i] = row * 3
        i += 1
    return x


def of_a_functions_result(x, y):
    z = torch.relu(x) if isinstance(x, torch.Tensor) else x
    i = 0
    for row in reversed(z):
        z[i] = row * 3
        i += 1
    return z


def rows_changed_later(x, y):
    rows = [row for row in reversed(x)]
    for row in rows:
        row += 1
    x[0] = 7.0
    return x, rows


def rows_handed_out(x, y):
    return [row for row in reversed(x)]


def only_read(x, y):
    total = y[0] * 0
    for row in reversed(x):
        total = total * 0.5 + row
    return total


FUNCTIONS = (
    changed_in_its_rows, changed_beside, changed_while_it_is_read, changed_by_number, changed_by_a_function,
    of_a_computed_one, of_a_part, of_a_functions_result, rows_changed_later, rows_handed_out, only_read,
)  # fmt: skip


def plain(value):
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return type(value).__name__, value.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_reversed(function, backend):
    lifted: Any = lift(function, backend=backend, verify="off")
    for n in (3, 5, 1, 3):
        for make in (torch.from_numpy, np.array):
            found = []
            for one in (function, lifted):
                x, y = make(np.arange(2.0 * n).reshape(n, 2)), make(np.ones((n, 2)))
                found.append((plain(one(x, y)), plain(x)))
            assert found[0] == found[1]


def gradient(x, y):
    out, i = [], 0
    total = torch.zeros(2, dtype=torch.float64)
    for row in reversed(x):
        total = total * 0.5 + row * row
        y[i] = 2.0
        out.append(total)
        i += 1
    return torch.stack(out)


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients(backend):
    lifted: Any = lift(gradient, backend=backend, verify="off")
    found = []
    for one in (gradient, lifted):
        x = torch.arange(8.0, dtype=torch.float64).reshape(4, 2).requires_grad_()
        y = torch.zeros(4, 2)
        result = one(x, y)
        found.append((result, torch.autograd.grad((result**2).sum(), x)[0], y))
    assert all(torch.allclose(a, b, rtol=1e-12) for a, b in zip(*found))
    assert (lifted.report().loops[0].decision == "kept") is (backend == "native")


@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_that_read_it_are_lifted(backend):
    for function in (changed_while_it_is_read, only_read):
        lifted: Any = lift(function, backend=backend, verify="off")
        x, y = torch.randn(6, dtype=torch.float64), torch.ones(6, dtype=torch.float64)
        lifted(x.clone(), y.clone())
        assert lifted.report().loops[0].decision != "kept"
