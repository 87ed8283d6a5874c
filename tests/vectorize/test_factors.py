"""Gradients of one result are zero for the others, whatever makes NaN of a zero: factors, steps of loops that stay."""

import pytest
import torch

from looplift import lift

INFINITE, UNDEFINED = float("inf"), float("nan")


def dots(x, y):
    return [torch.dot(x[i], y[i]) for i in range(len(x))]


def matrices(x, y):
    return [torch.matmul(y, x[i]) for i in range(len(x))]


def losses(x, y):
    return [torch.nn.functional.mse_loss(x[i], y[i]) for i in range(len(x))]


def last_dot(x, y):
    found = torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        found = torch.dot(x[i], y[i])
    return [found]


def cubes(x, y):
    return [torch.clamp(x[i] * y[i] * y[i], max=3.0) for i in range(len(x))]


def chosen(x, y):
    found = []
    for i in range(len(x)):
        if x[i, 0] > 0:
            found.append(torch.tanh(x[i] * y[i] * x[i]))
    return found


def layers(x, y):
    return [torch.relu(y @ torch.relu(y @ x[i])) for i in range(len(x))]


def steps(x, y):
    found = []
    for i in range(len(x)):
        state = torch.zeros((), dtype=x.dtype)
        for t in range(x.shape[1]):
            state = torch.sqrt(torch.abs(torch.tanh(state) + x[i, t]))
        found.append(state)
    return found


def growing_steps(x, y):
    found = []
    for i in range(len(x)):
        state = x[i] * 1
        for t in range(3):
            state = torch.clamp(state * state * y[t], max=1.0) * torch.clamp(state, max=2.0)
        found.append(state)
    return found


def stored_roots(x, y):
    found, roots = [], torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        roots[i] = torch.sqrt(x[i, 0])
        found.append(roots[i] * 2)
    return found


def total_roots(x, y):
    found, total = [], torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        total = total + torch.sqrt(x[i, 0])
        found.append(total * 1)
    return found


FUNCTIONS = [
    dots, matrices, losses, last_dot, cubes, chosen, layers, steps, growing_steps, stored_roots, total_roots
]  # fmt: skip
PLAIN = [[1.0, 2.0, 0.5], [0.5, 1.0, 1.5], [2.0, 0.25, 1.0]]
LARGE = [[1.0, 2.0, 0.5], [1e200, 1e200, 1e200], [2.0, 0.25, 1e200]]
ODD = [[1.0, INFINITE, 0.5], [0.5, 0.0, UNDEFINED], [0.0, 0.25, 1.0]]
ZEROS = [[1.0, 2.0, 0.5], [0.0, 0.0, 0.0], [2.0, 0.0, 1.0]]


def tensors(x, y):
    return tuple(torch.tensor(rows, dtype=torch.float64, requires_grad=True) for rows in (x, y))


def gradients(function, x, y):
    """Of each result alone, and of the first and last together; None where there is none, without signs of zeros."""
    given = tensors(x, y)
    results = function(*given)
    totals = [one.sum() for one in results] + [sum(one.sum() for one in results[:: max(len(results) - 1, 1)])]
    found = [torch.autograd.grad(one, given, allow_unused=True, retain_graph=True) for one in totals]
    return [[None if g is None else g + 0.0 for g in row] for row in found]


def assert_same(found, wanted):
    for row, other in zip(found, wanted, strict=True):
        for one, two in zip(row, other, strict=True):
            assert (one is None) == (two is None)
            assert one is None or torch.allclose(one, two, rtol=1e-9, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("settings", [{"backend": "auto"}, {"backend": "torch"}, {"backend": "torch", "memory": 100}])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_gradient_of_one_result_is_none_of_the_others(function, settings):
    lifted = lift(function, verify="off", **settings)
    for x, y in ((PLAIN, PLAIN), (PLAIN, LARGE), (LARGE, PLAIN), (PLAIN, ODD), (ODD, PLAIN), (ZEROS, ZEROS)):
        assert_same(gradients(lifted, x, y), gradients(function, x, y))


@pytest.mark.parametrize("function", [dots, matrices, losses, last_dot, cubes, chosen, layers, steps, total_roots])
def test_they_are_lanes_where_all_factors_are_finite(function):
    lifted = lift(function, verify="off", backend="torch")
    gradients(lifted, PLAIN, PLAIN)
    assert "kept" not in [loop.decision for loop in lifted.report().loops]


def of_tensors(items):
    return [torch.tanh(item * items[0]) for item in items]


@pytest.mark.parametrize("number", [1.0, 0.0, INFINITE])
def test_tensors_in_lists(number):
    def made(function):
        x = torch.tensor([[1.0, 2.0], [number, 1.0], [3.0, 0.5]], requires_grad=True)
        results = function([x[0] * 1, x[1] * 1, x[2] * 1])
        return [torch.autograd.grad(one.sum(), (x,), retain_graph=True) for one in results]

    assert_same(made(lift(of_tensors, verify="off", backend="torch")), made(of_tensors))


def test_only_factors_that_may_overflow_are_looked_at():
    lifted = lift(dots, verify="off", backend="torch")
    lifted(*tensors(PLAIN, PLAIN))
    assert lifted.source.count("if not all_finite(") == 3  # what is given, and the result
    lifted = lift(layers, verify="off", backend="torch")
    lifted(*tensors(PLAIN, PLAIN))
    assert lifted.source.count("if not all_finite(") == 4
