"""Recurrences that begin anew in some iterations: no gradient reaches what was before, whatever comes in."""

import pytest
import torch

from looplift import lift

D = torch.float64
INF, NAN = float("inf"), float("nan")


def sums_of_runs(x):
    s = torch.zeros((), dtype=D)
    out = torch.zeros_like(x)
    for i in range(len(x)):
        s = s + x[i]
        if x[i] < 0:
            s = x[i]
        out[i] = s
    return out


def last_sums(x):
    out = torch.zeros(len(x), dtype=D)
    for i in range(len(x)):
        s = torch.zeros((), dtype=D)
        for j in range(x.shape[1]):
            s = s + x[i, j]
            if x[i, j] < 0:
                s = x[i, j]
        out[i] = s
    return out


def every_third(x):
    s = torch.zeros((), dtype=D)
    out = torch.zeros_like(x)
    for i in range(len(x)):
        if i % 3 == 0:
            s = x[i]
        else:
            s = 0.5 * s + x[i]
        out[i] = s
    return out


def rows(x):
    s = torch.zeros(x.shape[1], dtype=D)
    out = torch.zeros_like(x)
    for i in range(len(x)):
        if i % 3 == 2:
            s = x[i] * 2
        else:
            s = s * x[i, 0] + x[i]
        out[i] = s
    return out


def two_ways(x):
    s = torch.zeros((), dtype=D)
    out = torch.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 1:
            s = x[i]
        elif x[i] < 0:
            s = x[i] * 3
        else:
            s = s * x[i] + 1
        out[i] = s
    return out


def of_factors(x):
    """A factor of zero that stands in the loop makes NaN of what is infinite there, too."""
    s = torch.zeros((), dtype=D)
    out = torch.zeros_like(x)
    for i in range(len(x)):
        s = s * x[i] + 1
        out[i] = s
    return out


def decaying(x):
    """Powers of the factor are zero long before the loop's gradient is."""
    s = torch.zeros((), dtype=D)
    out = torch.zeros_like(x)
    for i in range(len(x)):
        s = 1e-90 * s + x[i]
        out[i] = s
    return out


TABLE = [[1.0, -1.0, 1.0, 2.0], [1.0, 2.0, 0.0, -1.0], [0.5, 0.0, 3.0, 1.0], [-2.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4]]
ROW = [0.5, 2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 0.25]
CASES = [
    (sums_of_runs, ROW), (last_sums, TABLE), (every_third, ROW), (rows, TABLE), (two_ways, ROW), (of_factors, ROW),
    (decaying, ROW),
]  # fmt: skip


def gradient(function, x, incoming):
    x = torch.tensor(x, dtype=D, requires_grad=True)
    result = function(x)
    far = torch.tensor(incoming, dtype=D).repeat(result.numel())[: result.numel()].view_as(result)
    return result.detach(), torch.autograd.grad(result, x, far)[0]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(("function", "x"), CASES, ids=[one.__name__ for one, _ in CASES])
def test_gradients_are_the_loops_whatever_comes_in(function, x, backend):
    lifted = lift(function, backend=backend, verify="off")
    for incoming in ([1.0, 2.0], [1.0, 1.0, INF, 1.0, -1.0], [1.0, -1.0, 1.0, 1.0, -INF, 1.0], [NAN, 1.0, 1.0, 2.0]):
        expected, given = gradient(function, x, incoming), gradient(lifted, x, incoming)
        for ours, loops in zip(given, expected, strict=True):
            torch.testing.assert_close(ours, loops, equal_nan=True)
    if backend == "torch":
        assert "scan" in {loop.decision for loop in lifted.report().loops}


def test_gradients_that_grow_to_infinity_stop_where_a_sum_begins_anew():
    def growing(x):
        s = torch.zeros((), dtype=D)
        out = torch.zeros_like(x)
        for i in range(len(x)):
            if i == 2:
                s = x[i]
            else:
                s = 1e200 * s + x[i]
            out[i] = s
        return out

    lifted = lift(growing, backend="torch", verify="off")
    expected, given = (gradient(one, [0.0] * 6, [1.0]) for one in (growing, lifted))
    torch.testing.assert_close(given, expected)
    assert expected[1].isinf().any()


@pytest.mark.parametrize("function", [sums_of_runs, every_third, two_ways])
def test_second_derivatives_are_the_loops(function):
    def twice(one):
        z = torch.tensor(ROW, dtype=D, requires_grad=True)
        (first,) = torch.autograd.grad(one(z).pow(3).sum(), z, create_graph=True)
        return first.detach(), torch.autograd.grad(first.sum(), z)[0]

    for ours, loops in zip(twice(lift(function, backend="torch", verify="off")), twice(function), strict=True):
        torch.testing.assert_close(ours, loops)
