"""What is a number before the first iteration and a tensor of fewer digits from then on: as the loop has it."""

from __future__ import annotations

import ast

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.frontend.translate import translate
from looplift.ir.first_apart import with_first_apart


def smoothed(x, level):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for t in range(x.shape[0]):
        level = 0.7 * level + 0.3 * x[t]
        out[t] = level
    return out, level


def of_a_literal(x, gain):
    state = 0.1
    for t in range(x.shape[0]):
        state = gain * state + x[t]
    return state


def of_a_computed_number(x, gain):
    level, trend = gain / 3, -gain * 0.7
    for t in range(x.shape[0]):
        last = level
        level = 0.6 * x[t] + 0.4 * (level + trend)
        trend = 0.2 * (level - last) + 0.8 * trend
    return level, trend


def backwards(x, value):
    returns = torch.zeros_like(x)
    for t in range(x.shape[0] - 1, -1, -1):
        value = x[t] + 0.9 * value
        returns[t] = value
    return returns


def in_rows(x, start):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        h = start
        for j in range(x.shape[1]):
            h = 0.3 * h + x[i, j] * x[i, j]
            out[i, j] = h
    return out


def sums_of_rows(x, first, last):
    kept = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            inner = 0.5
            for c in range(first[i], last[i]):
                inner += torch.sign(x[(i * 2) % x.shape[0]][j])
            kept = kept + inner
    return kept


def in_place(x, level):
    for t in range(x.shape[0]):
        level *= 0.7
        level += x[t]
    return level


def with_branches(x, level):
    up = 0
    for t in range(x.shape[0]):
        if x[t] > level:
            level = level + 0.5 * (x[t] - level)
            up += 1
        else:
            level = level - 0.1 * x[t]
    return level, up


def with_an_inner_loop(x, level):
    for t in range(x.shape[0]):
        total = 0.3
        for k in range(3):
            total = total * level + x[t] * k
        level = total / 5
    return level


def some_stay(x, level):
    for t in range(x.shape[0]):
        if x[t] > 0.9:
            level = level + x[t]
    return level


def left_early(x, level):
    for t in range(x.shape[0]):
        level = level * 0.9 + x[t]
        if level > 2:
            break
    return level


def appended(x, level):
    levels = []
    for t in range(x.shape[0]):
        level = 0.5 * level + x[t]
        levels.append(level)
    return torch.stack(levels)


def out_of_range(x, level):
    for t in range(x.shape[0] + 1):
        level = 0.5 * level + x[t]
    return level


def divides(x, level):
    kept = []
    for t in range(x.shape[0]):
        level = x[t] / (level - 0.25)
        kept.append(t)
    return level, len(kept)


def roots(x, start):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        z = start
        for k in range(30):
            step = (z * z * z - x[i]) / (3 * z * z)
            z = z - step
            if abs(step) < 1e-3:
                break
        else:
            z = z * 2
        out[i] = z
    return out


def while_it_moves(x, start):
    out, left = torch.zeros_like(x), 200
    for i in range(x.shape[0]):
        z = start
        while abs(z * z - x[i]) > 1e-2:
            z = 0.5 * (z + x[i] / (abs(z) + 0.1))
            left -= 1
            if left < 0:
                break
        out[i] = z
    return out, left


FUNCTIONS = (
    smoothed, of_a_literal, of_a_computed_number, backwards, in_place, with_branches, with_an_inner_loop, some_stay,
    left_early, appended, out_of_range, divides, roots, while_it_moves,
)  # fmt: skip


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except (IndexError, RuntimeError, ZeroDivisionError) as error:
        return type(error), str(error)


def same(found, expected):
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, torch.Tensor):
        assert isinstance(found, torch.Tensor) and found.requires_grad == expected.requires_grad
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6, equal_nan=True)
    else:
        assert type(found) is type(expected) and found == expected


CALLS = [(function, backend) for function in FUNCTIONS for backend in ("auto", "native")]
CALLS += [(function, "torch") for function in (roots, while_it_moves)]


@pytest.mark.parametrize("length", (0, 1, 2, 9))
@pytest.mark.parametrize(("function", "backend"), CALLS, ids=lambda value: getattr(value, "__name__", value))
def test_tensors(function, backend, length):
    torch.manual_seed(length)
    for dtype in (torch.float32, torch.float64, torch.float16):
        lifted = lift(function, backend=backend, verify="off")
        for start in (0.3, 0.25, 1, -0.1):
            x = torch.rand(length, dtype=dtype)
            same(outcome(lifted, x, start), outcome(function, x, start))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_gradients(function):
    torch.manual_seed(0)
    lifted = lift(function, verify="off")
    for length in (1, 2, 9):
        x, start = torch.rand(length, requires_grad=True), 0.3
        found, expected = outcome(lifted, x, start), outcome(function, x, start)
        same(found, expected)
        one, other = (result[0] if isinstance(result, tuple) else result for result in (found, expected))
        if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) and other.requires_grad:
            (mine,), (theirs,) = (torch.autograd.grad(result.sum(), x) for result in (one, other))
            torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("function", (roots, while_it_moves), ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", (torch.float32, torch.float64))
def test_lanes_that_part_ways_are_one_kernel(function, dtype):
    lifted = lift(function, backend="native", verify="off")
    lifted(torch.rand(9, dtype=dtype) + 1, 0.3)
    assert "_kernel_source" in lifted.source and "run_program" not in lifted.source


def while_alone(x, start):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        z = start
        while abs(z * z - x[i]) > 1e-2:
            z = 0.5 * (z + x[i] / z)
        out[i] = z
    return out


def test_a_while_loop_over_tensors_runs_in_lanes():
    lifted = lift(while_alone, backend="torch", verify="off")
    x = torch.rand(9) + 1
    same(lifted(x, 0.3), while_alone(x, 0.3))
    assert [loop.decision for loop in lifted.report().loops] == ["lanes", "sequential"]


def scaled(x, level):
    out = np.zeros_like(x)
    for t in range(len(x)):
        level = 0.7 * level + 0.3 * x[t]
        out[t] = level
    return out, level


@pytest.mark.parametrize("length", (0, 1, 2, 9))
@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_arrays(dtype, length):
    x = np.random.default_rng(0).uniform(size=length).astype(dtype)
    lifted = lift(scaled, verify="off")
    for _ in range(2):
        (found, last), (expected, level) = lifted(x, 0.3), scaled(x, 0.3)
        assert type(last) is type(level) and last == level
        np.testing.assert_array_equal(found, expected)


def test_rows():
    x = torch.rand(4, 7)
    lifted = lift(in_rows, verify="off")
    torch.testing.assert_close(lifted(x, 0.3), in_rows(x, 0.3))
    torch.testing.assert_close(lifted(x[:, :0], 0.3), in_rows(x[:, :0], 0.3))


def test_a_number_that_an_inner_loop_adds_a_tensor_to():
    x = torch.randn(4, 5).half()
    lifted = lift(sums_of_rows, verify="off")
    for last in ([2, 3, 3, 4], [0, 2, 4, 3]):
        torch.testing.assert_close(lifted(x, [0, 1, 2, 3], last), sums_of_rows(x, [0, 1, 2, 3], last))


@pytest.mark.parametrize("function", (smoothed, of_a_literal, of_a_computed_number, backwards))
def test_single_precision_is_compiled(function):
    lifted = lift(function, backend="native", verify="off")
    lifted(torch.rand(9), 0.3)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_nothing_to_write_apart():
    body = ast.parse("for t in range(3):\n    total = total + x[t]").body
    function = translate(body, {"x": torch.rand(3), "total": 0, "range": range}, ["total"], file="", name="f")
    assert with_first_apart(function) is None
