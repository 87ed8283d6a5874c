"""Names of the author's that begin as those of values that functions return: what is not bound raises all the same."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check_backends


def doubled(v):
    if v > 0.5:
        returns = v * 2
    return returns


def of_a_helper(x):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = doubled(x[i])
    return out


def in_a_while(x):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        v = x[i].item()
        while v < 0.7:
            v = v * 2
            return_v = v
        out[i] = return_v
    return out


def with_a_number(x):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            _result_1 = x[i] * 3
        total = total + _result_1
    return total


def chosen(v):
    if v > 0.5:
        return v * 2
    if v > 0.2:
        return v - 1
    return v * v


def of_returns(x):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = chosen(x[i])
    return out


@pytest.mark.parametrize("function", [of_a_helper, in_a_while, with_a_number])
def test_names_that_are_not_bound(function):
    calls = [[torch.tensor(numbers)] for numbers in ([0.6, 0.4, 0.8], [0.4, 0.6], [0.6, 0.55], [0.9, 0.3, 0.3])]
    check_backends(function, *calls, kept={"auto", "torch", "native"})


def test_what_functions_return_is_lifted():
    check_backends(of_returns, [torch.tensor([0.6, 0.4, 0.1, 0.9])], gradients=True)


def step(x, h):
    z = x * 2
    if h is not None:
        z = z + h * 0.5
    return torch.tanh(z)


def carried_results(x):
    rows = []
    for i in range(x.shape[0]):
        h, row = None, []
        for j in range(x.shape[1]):
            h = step(x[i, j], h)
            row.append(h)
        rows.append(torch.stack(row))
    return torch.stack(rows)


def test_results_that_are_carried_have_names_in_the_text():
    check_backends(carried_results, [torch.rand(3, 4)], [torch.rand(2, 5)], gradients=True)
