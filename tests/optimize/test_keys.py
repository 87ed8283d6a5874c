"""Sums over different axes of one value are one value; sums of others are not."""

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
