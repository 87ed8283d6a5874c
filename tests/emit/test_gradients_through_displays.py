"""Gradients through lists and tuples that a kernel makes of numbers, and of rows that it stores into."""

from __future__ import annotations

import pytest
import torch

import looplift


def least_of_a_list(x):
    a, b = torch.zeros(()), torch.zeros(())
    for i in range(x.shape[0]):
        c = x[i] + min([a * 2, b + 0.5])
        a = b
        b = c
    return b


def sum_of_a_list(x):
    y = torch.zeros(())
    for i in range(2, x.shape[0]):
        y = torch.tanh(y) * x[0] + sum([x[i] * 2, x[i - 1]])
    return y


def sum_of_three(x):
    y = torch.zeros(())
    for i in range(2, x.shape[0]):
        y = y * 0.5 + sum([x[i], x[i - 1], x[i - 2] * x[0]])
    return y


def chosen_of_a_list(x, places):
    y = torch.zeros(())
    for i in range(2, x.shape[0]):
        pair = [x[i] * 2, x[i - 1] * 3]
        k = int(places[i])
        y = torch.tanh(y) * x[0] + pair[k]
    return y


def stack_of_a_list(x):
    y = torch.zeros(())
    for i in range(1, x.shape[0]):
        y = torch.tanh(y) + torch.stack([x[i] * 2, x[i - 1] * y]).sum()
    return y


def product_before_its_row_changes(x):
    rows = x.clone().reshape(2, -1)
    for i in range(rows.shape[0]):
        row = rows[i]
        double = row * 2
        for k in range(rows.shape[1]):
            row[k] = double[k] / double.sum()
    return rows.sum() + (rows * rows).sum()


FUNCTIONS = [
    least_of_a_list, sum_of_a_list, sum_of_three, chosen_of_a_list, stack_of_a_list, product_before_its_row_changes,
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_and_gradients_are_those_of_the_loop(function, backend):
    lifted = looplift.lift(function, backend=backend, verify="off")
    for seed in range(3):
        x = torch.randn(8, generator=torch.Generator().manual_seed(seed))
        more = (torch.arange(8) % 2,) if function is chosen_of_a_list else ()
        inputs = [x.clone().requires_grad_() for _ in range(2)]
        ends = [run(one, *more) for run, one in zip((function, lifted), inputs, strict=True)]
        torch.testing.assert_close(ends[1], ends[0])
        for end in ends:
            end.backward()
        torch.testing.assert_close(inputs[1].grad, inputs[0].grad)
