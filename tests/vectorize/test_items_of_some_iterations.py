"""Loops that stay over lists of tensors: what no iteration takes to the end has no gradient, as in the loop."""

import pytest
import torch

from looplift import lift


def added_from_the_second(x, rows):
    total = torch.zeros(2)
    for i in range(x.shape[0]):
        if i > 0:
            total[i % 2] = total[0] + rows[i].sum()
    return total


def carried_from_the_second(x, rows):
    h = torch.zeros(2)
    for i in range(x.shape[0]):
        if i > 0:
            h = torch.tanh(h + rows[i])
    return h


def carried_where_the_data_says(x, rows):
    h = torch.zeros(2)
    for i in range(x.shape[0]):
        if x[i] > 0:
            h = torch.tanh(h + rows[i])
    return h


def one_iteration_late(x, rows):
    h, g = torch.zeros(()), torch.zeros(())
    for i in range(x.shape[0]):
        later = torch.tanh(h + g)
        g = rows[i].sum() * x[i] + h.sin()
        h = later
    return h


def history_under_a_condition(x, rows):
    h, total = torch.zeros(()), torch.zeros(())
    for i in range(x.shape[0]):
        h = torch.tanh(h + rows[i].sum())
        if x[i] > 0:
            total = total + h
    return total


def state_before(x, rows):
    h, out = torch.zeros(()), torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = h * 2
        h = torch.tanh(h + rows[i].sum())
    return out


def begun_anew(x, rows):
    h = torch.zeros(())
    for i in range(x.shape[0]):
        h = torch.tanh(h + rows[i].sum())
        if x[i] > 0:
            h = torch.zeros(())
    return h


def without_what_was_before(x, rows):
    h = torch.zeros(())
    for i in range(x.shape[0]):
        h = torch.tanh(h.detach()) + rows[i].sum()
    return h


def taken_while_it_is_small(x, rows):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        z, k = x[i], 0
        while z < 0.5 and k < 4:
            z = z + 0.3 + rows[i].sum() ** 2
            k += 1
        out[i] = z
    return out


def taken_by_an_inner_loop(x, rows):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        z = x[i]
        for _ in range(i):
            z = torch.tanh(z + rows[i].sum())
        out[i] = z
    return out


def dropped_after_an_inner_loop(x, rows):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        z, k = rows[i].sum(), 0
        while z < 0.5 and k < 4:
            z = z + 0.3
            k += 1
        if x[i] > 0:
            out[i] = z
    return out


def row_of_its_own(x, rows):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        row = torch.zeros(3)
        for k in range(3):
            row[k] = rows[i].sum() * k
        row[1] = row[0] + 1
        if x[i] > 0:
            out[i] = row[2]
    return out


def last_one(x, rows):
    h = torch.zeros(())
    for i in range(x.shape[0]):
        if x[i] > 0:
            h = rows[i].sum()
    return h


def best_one(x, rows):
    h, best = torch.zeros(()), -100.0
    for i in range(x.shape[0]):
        if x[i] > best:
            best, h = x[i], rows[i].sum()
    return h


def greatest(x, rows):
    h = torch.zeros(())
    for i in range(x.shape[0]):
        h = max(h, rows[i].sum())
    return h


def own_inputs(x):
    rows = [torch.tensor([0.3, 0.2 * k]).requires_grad_() for k in range(x.shape[0])]
    return rows, rows


def one_input(x):
    w = torch.tensor([0.3, 0.2]).requires_grad_()
    return [w], [w * k for k in range(x.shape[0])]


def observed(function, make, x):
    inputs, rows = make(x)
    result = function(x, rows)
    grads = torch.autograd.grad(result.sum(), inputs, allow_unused=True) if result.requires_grad else None
    return result, grads


LOOPS = [
    added_from_the_second, carried_from_the_second, carried_where_the_data_says, one_iteration_late,
    history_under_a_condition, state_before, begun_anew, without_what_was_before, taken_while_it_is_small,
    taken_by_an_inner_loop, dropped_after_an_inner_loop, row_of_its_own, last_one, best_one, greatest,
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("make", [own_inputs, one_input])
@pytest.mark.parametrize("function", LOOPS)
def test_what_no_iteration_takes_has_no_gradient(function, make, backend):
    lifted = lift(function, verify="off", backend=backend)
    for values in ([0.5, -1.0, 0.7, -0.2], [1.0], [-0.3, 0.2], [0.1, 0.2, 0.3], []):
        x = torch.tensor(values)
        torch.testing.assert_close(observed(lifted, make, x), observed(function, make, x))


@pytest.mark.parametrize("function", [carried_where_the_data_says, best_one, state_before])
def test_rows_of_one_input_are_lifted(function):
    lifted = lift(function, verify="off", backend="torch")
    observed(lifted, one_input, torch.tensor([0.5, -1.0, 0.7]))
    assert {loop.decision for loop in lifted.report().loops} <= {"sequential", "scan", "lanes"}
