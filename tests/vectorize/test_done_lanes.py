"""Gradients of lanes that are done while others go on: what they would become in the next iteration may be infinite."""

from __future__ import annotations

import pytest
import torch

import looplift


def squared_until_large(x, w):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        e = x[i]
        k = 0
        while e < 1e20 and k < 9:
            e = e * e * w
            k += 1
        out[i] = torch.clamp(e, max=10.0) * w
    return out


def squared_for_a_time(x, lengths, w):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        h = x[i]
        for t in range(int(lengths[i])):
            h = h * torch.exp(w[t]) * h
            if h > 1e30:
                break
        out[i] = torch.clamp(h, max=5.0)
    return out


def newton(a):
    out = torch.zeros(len(a))
    for i in range(len(a)):
        x = a[i]
        while abs(x * x - a[i]) > 1e-4:
            x = x - (x * x - a[i]) / (2 * x)
        out[i] = x
    return out


def arguments(function, *, large: bool):
    if function is squared_until_large:
        return [torch.tensor([1.5e10, 2.0, 1e25 if large else 5.0, 3.0]), torch.tensor(1.3)]
    if function is squared_for_a_time:
        return [torch.tensor([1.5e19, 2.0, 1e15, 3.0] if large else [1.0, 2.0, 1.5, 3.0]), torch.tensor([1, 3, 2, 9]),
                torch.linspace(0.0, 0.4, 10)]  # fmt: skip
    return [torch.linspace(0.1, 9.0, 20)]


def gradients(function, given):
    inputs = [one.clone().requires_grad_(one.is_floating_point()) for one in given]
    function(*inputs).sum().backward()
    return [one.grad for one in inputs if one.is_floating_point()]


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
@pytest.mark.parametrize("function", [squared_until_large, squared_for_a_time, newton])
def test_gradients_are_those_of_the_loop(function, large):
    given = arguments(function, large=large)
    lifted = looplift.lift(function, backend="torch", verify="off")
    for _ in range(2):
        torch.testing.assert_close(gradients(lifted, given), gradients(function, given), equal_nan=True)


def test_lanes_are_looked_at_once_after_the_loop():
    lifted = looplift.lift(newton, backend="torch", verify="off")
    gradients(lifted, arguments(newton, large=False))
    loop, after = lifted.source.split("x = torch.where(active")
    assert "all_finite(x * x" in after and "all_finite" not in loop.split("while True")[1]
    assert [loop.decision for loop in lifted.report().loops] == ["lanes", "sequential"]
