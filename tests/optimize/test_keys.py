"""Sums over different axes of one value are one value; sums of others are not."""

import numpy as np
import pytest
import torch

from looplift import lift


def squared_sum(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            total = total + x[i] * x[j]
    return total


def two_sums(x):
    first = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        first = first + torch.sin(x[i])
    second = torch.zeros((), dtype=x.dtype)
    for k in range(x.shape[0]):
        second = second + torch.sin(x[k])
    return first, second


def other_ranges(x):
    first = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        first = first + x[i]
    second = torch.zeros((), dtype=x.dtype)
    for k in range(1, x.shape[0]):
        second = second + x[k]
    third = torch.zeros((), dtype=x.dtype)
    for k in range(0, x.shape[0], 2):
        third = third + x[k]
    fourth = torch.zeros((), dtype=x.dtype)
    for k in range(x.shape[0] - 1):
        fourth = fourth + x[k + 1]
    return first, second, third, fourth


def sides_of_a_table(x):
    rows = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            rows[i] = rows[i] + x[i, j]
    columns = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            columns[i] = columns[i] + x[j, i]
    return rows, columns


def written_between(x):
    first = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        first = first + x[i]
    for i in range(x.shape[0]):
        x[i] = 2 * x[i]
    second = torch.zeros((), dtype=x.dtype)
    for k in range(x.shape[0]):
        second = second + x[k]
    return first, second


def changed_afterwards(x):
    first = torch.zeros(x.shape[1], dtype=x.dtype)
    for i in range(x.shape[0]):
        first = first + x[i]
    second = torch.zeros(x.shape[1], dtype=x.dtype)
    for k in range(x.shape[0]):
        second = second + x[k]
    second[0] = 7.0
    return first, second


def self_product(x):
    total = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            for k in range(x.shape[1]):
                total = total + x[i, k] * x[j, k]
    return total


PROGRAMS = [squared_sum, two_sums, other_ranges, written_between]
TABLES = [sides_of_a_table, changed_afterwards, self_product]


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("loop", PROGRAMS + TABLES)
def test_equals_the_loop(loop, size):
    shape = (size,) if loop in PROGRAMS else (size, size)
    x = torch.randn(shape, dtype=torch.float64)
    lifted = lift(loop, backend="torch")
    for _ in range(2):
        mine, theirs = x.clone(), x.clone()
        torch.testing.assert_close(lifted(mine), loop(theirs))
        torch.testing.assert_close(mine, theirs)


@pytest.mark.parametrize("loop", [squared_sum, two_sums, other_ranges, sides_of_a_table, self_product])
def test_gradients_are_those_of_the_loop(loop):
    def gradient(function):
        x = torch.linspace(-1, 2, 4 if loop in PROGRAMS else 16, dtype=torch.float64)
        x = (x if loop in PROGRAMS else x.view(4, 4)).requires_grad_()
        found = function(x)
        parts = found if isinstance(found, tuple) else (found,)
        return torch.autograd.grad(sum((k + 1) * part.sum() for k, part in enumerate(parts)), x)

    torch.testing.assert_close(gradient(lift(loop, backend="torch")), gradient(loop))


def test_a_sum_is_computed_once():
    lifted = lift(squared_sum, backend="torch")
    lifted(torch.rand(50))
    assert lifted.source.partition("def squared_sum")[2].count(".sum(") == 1
    lifted = lift(two_sums, backend="torch")
    lifted(torch.rand(50))
    assert lifted.source.count(".sum(") == 1


def turned_waves(x):
    out = []
    for i in range(x.shape[0]):
        out.append(torch.cos(-1 * x[i]) + torch.exp(-2j * x[i]) - 3 * torch.exp(-1j * x[i]))
    return torch.stack(out)


def backwards_at_two_paces(x, n):
    out = torch.zeros(n, dtype=x.dtype)
    for i in range(n):
        out[i] = x[3 * n - i] * 10 - x[3 * n - 2 * i]
    return out


def windows_backwards(x, n):
    out = []
    for i in range(n):
        out.append(x[2 * n - i : 2 * n - i + 2].sum() - 5 * x[2 * n - 2 * i : 2 * n - 2 * i + 2].sum())
    return out


def zeros_of_both_signs(x):
    out = []
    for i in range(x.shape[0]):
        out.append(torch.atan2(x[i] * 0, x[i] * complex(0.0, -0.0).imag) + torch.atan2(x[i] * 0, x[i] * 0.0))
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(
    ("function", "rest"),
    [(turned_waves, ()), (backwards_at_two_paces, (5,)), (windows_backwards, (4,)), (zeros_of_both_signs, ())],
)
def test_minus_one_is_not_minus_two_and_no_zero_the_other(function, rest, backend):
    """Python hashes -1 as it hashes -2."""
    lifted = lift(function, backend=backend, verify="off")
    x, own = (torch.arange(1.0, 21, dtype=torch.float64).requires_grad_() for _ in range(2))
    want, got = function(x, *rest), lifted(own, *rest)
    want, got = (one if torch.is_tensor(one) else torch.stack(one) for one in (want, got))
    torch.testing.assert_close(got, want)
    for one in (want, got):
        one.abs().square().sum().backward()
    torch.testing.assert_close(own.grad, x.grad)


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_minus_one_is_not_minus_two_in_numpy(backend):
    def two_waves(x, n):
        out = np.zeros(n, dtype=complex)
        for i in range(n):
            out[i] = np.exp(-1j * x[i]) + 3 * np.exp(-2j * x[i]) + x[2 * n - i] - 7 * x[2 * n - 2 * i]
        return out

    lifted = lift(two_waves, backend=backend, verify="off")
    np.testing.assert_allclose(lifted(np.arange(1.0, 15), 6), two_waves(np.arange(1.0, 15), 6))
