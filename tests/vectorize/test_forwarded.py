"""What an iteration reads of an array that the one before stored is carried, and may be a scan."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check
from tests.vectorize.test_distribution import matrix, vector

from looplift import lift
from looplift.base.compare import difference


def averaged(x):
    y = torch.zeros_like(x)
    y[0] = x[0]
    for t in range(1, x.shape[0]):
        y[t] = 0.9 * y[t - 1] + 0.1 * x[t]
    return y


def of_each_row(x):
    y = torch.zeros_like(x)
    for i in range(x.shape[0]):
        y[i, 0] = x[i, 0]
        for t in range(1, x.shape[1]):
            y[i, t] = 0.9 * y[i, t - 1] + 0.1 * x[i, t]
    return y


def along_the_last(x):
    y = torch.zeros_like(x)
    y[..., 0] = x[..., 0]
    for t in range(1, x.size(-1)):
        y[..., t] = 0.3 * x[..., t] + (1 - 0.3) * y[..., t - 1]
    return y


def summed(x):
    y = torch.zeros(x.shape[0] + 1, dtype=x.dtype)
    for t in range(x.shape[0]):
        y[t + 1] = y[t] + x[t]
    return y


def backwards(x):
    y = torch.zeros_like(x)
    y[-1] = x[-1]
    for t in range(len(x) - 2, -1, -1):
        y[t] = x[t] + 0.5 * y[t + 1]
    return y


def two_of_them(x):
    y, z = torch.zeros_like(x), torch.zeros_like(x)
    for t in range(1, x.shape[0]):
        y[t] = y[t - 1] * 0.5 + x[t]
        z[t] = z[t - 1] * 0.5 + y[t]
    return y, z


@pytest.mark.parametrize("function", [averaged, summed, backwards, two_of_them])
def test_elements(function):
    check(function, [vector(9)], [vector(2)], decisions={"scan"})


@pytest.mark.parametrize("function", [of_each_row, along_the_last])
def test_of_rows(function):
    check(
        function,
        [matrix(4, 9)],
        [matrix(1, 2)],
        decisions={"scan"} if function is along_the_last else {"lanes", "scan"},
    )


def test_added_in_place():
    def running(x):
        for t in range(1, x.shape[0]):
            x[t] += x[t - 1]
        return x

    check(running, [vector(9)], [matrix(9, 3)], gradients=False, decisions={"scan"})


def test_arrays():
    def averaged(x):
        y = np.zeros_like(x)
        y[0] = x[0]
        for t in range(1, x.shape[0]):
            y[t] = 0.9 * y[t - 1] + 0.1 * x[t]
        return y

    check(averaged, [vector(9).numpy()], [matrix(9, 3).numpy()], gradients=False, decisions={"scan"})


def moving(y, k, x):
    for t in range(1, x.shape[0]):
        y[t, k[t]] = y[t - 1, k[t]] * 0.5 + x[t]
    return y


def taken_in_turn(y, k, x):
    for t in range(1, x.shape[0]):
        y[t, t % 3] = y[t - 1, t % 3] * 0.5 + x[t]
    return y


def sliding(y, k, x):
    for t in range(1, x.shape[0]):
        y[t, t % 2 : t % 2 + 1] = y[t - 1, t % 2 : t % 2 + 1] * 0.5 + x[t]
    return y


def from_the_second(y, k, x):
    for t in range(2, x.shape[0]):
        y[t] = x[t] + 0.5 * y[t - 1] - 0.25 * y[t - 2]
    return y


def under_a_condition(y, k, x):
    for t in range(x.shape[0]):
        if t == 0:
            y[t] = x[t]
        else:
            y[t] = 0.5 * y[t - 1] + x[t]
    return y


def from_the_end(y, k, x):
    for t in range(x.shape[0]):
        y[t] = 0.5 * y[t - 1] + x[t]
    return y


def handed_out(y, k, x):
    rows = []
    for t in range(1, x.shape[0]):
        rows.append(y[t - 1])
        y[t] = y[t - 1] + x[t]
    y[0] = 7
    return y, rows


def of_another_dtype(y, k, x):
    y = y.float()
    for t in range(1, x.shape[0]):
        y[t] = 0.5 * y[t - 1] + x[t].double()
    return y


@pytest.mark.parametrize(
    "function",
    [
        moving,
        taken_in_turn,
        sliding,
        from_the_second,
        under_a_condition,
        from_the_end,
        handed_out,
        of_another_dtype,
    ],
)
def test_other_places_and_values(function):
    def run(one):
        generator = torch.Generator().manual_seed(1)
        return one(torch.rand(9, 3), torch.randint(0, 3, (9,), generator=generator), vector(9).float())

    torch.manual_seed(3)
    wanted = run(function)
    lifted = lift(function, verify="off", backend="torch")
    for _ in range(2):
        torch.manual_seed(3)
        assert not difference(run(lifted), wanted, magnitude=1.0, path="call")


@pytest.mark.parametrize("first", [0, 3])
def test_memory_that_is_shared(first):
    def averaged(x, y):
        for t in range(1, x.size(0)):
            y[t] = x[t] + 0.5 * y[t - 1]
        return y

    def run(function):
        memory = vector(20)
        return function(memory[first : first + 12], memory[3 - first : 15 - first]), memory

    assert not difference(run(lift(averaged, verify="off", backend="torch")), run(averaged), magnitude=1.0, path="call")


def test_a_factor_that_the_backward_pass_keeps():
    def averaged(x, a):
        y = torch.zeros_like(x)
        for t in range(1, x.shape[0]):
            y[t] = x[t] + a * y[t - 1]
        return y

    lifted = lift(averaged, verify="off", backend="torch")
    for function in (averaged, lifted):
        x, a = vector(6).requires_grad_(), torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            function(x, a).sum().backward()


def test_after_no_iteration_and_out_of_range():
    lifted = lift(summed, verify="off", backend="torch")
    assert torch.equal(lifted(vector(0)), torch.zeros(1, dtype=torch.float64))

    def short(x):
        y = torch.zeros(5, dtype=x.dtype)
        for t in range(x.shape[0]):
            y[t + 1] = y[t] + x[t]
        return y

    lifted = lift(short, verify="off", backend="torch")
    assert torch.equal(lifted(vector(4)), short(vector(4)))
    with pytest.raises(IndexError):
        lifted(vector(7))
