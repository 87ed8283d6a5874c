"""Gradients by what a loop carries, as the weights of an inner loop: of its own tensor in each iteration, or none."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from looplift import lift

grad = torch.autograd.grad


def loss_of(x, y, w):
    return ((x @ w - y) ** 2).mean()


def two_steps(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a = w
        for _ in range(2):
            (g,) = grad(loss_of(xs[t], ys[t], a), [a], create_graph=True)
            a = a - 0.1 * g
        total = total + loss_of(xs[t], ys[t], a)
    return total


def of_first_order(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a = w.clone()
        for _ in range(2):
            (g,) = grad(loss_of(xs[t], ys[t], a), [a])
            a = a - 0.1 * g
        total = total + loss_of(xs[t], ys[t], a)
    return total


def of_several_names(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a, b = w, v
        for _ in range(2):
            g, h = grad(loss_of(xs[t], ys[t], a) + torch.tanh(b * a).sum(), [a, b], create_graph=True)
            a = a - 0.1 * g
            b = b - 0.1 * h
        total = total + loss_of(xs[t], ys[t], a) + (b * b).sum()
    return total


def with_momentum_ahead(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a, m = w, torch.zeros_like(w)
        for _ in range(3):
            (g,) = grad(loss_of(xs[t], ys[t], a + 0.3 * m), [a], create_graph=True)
            m = 0.9 * m + g
            a = a - 0.1 * m
        total = total + loss_of(xs[t], ys[t], a)
    return total


def until_it_is_flat(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a = w
        k = 0
        while k < 3:
            (g,) = grad(loss_of(xs[t], ys[t], a), [a], create_graph=True)
            if g.abs().max() < 0.2:
                break
            a = a - 0.1 * g
            k += 1
        total = total + loss_of(xs[t], ys[t], a)
    return total


def near_a_copy(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a = w.clone()
        for _ in range(2):
            (g,) = grad(loss_of(xs[t], ys[t], a) + ((a - w) ** 2).sum(), [a], create_graph=True)
            a = a - 0.1 * g
        total = total + loss_of(xs[t], ys[t], a)
    return total


def asks_after_some_iterations(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a = w.detach()
        for _ in range(2):
            a = a + v
        (g,) = grad(loss_of(xs[t], ys[t], a), [a], create_graph=True)
        total = total + (a - g).sum()
    return total


LIFTED = (
    two_steps,
    of_first_order,
    of_several_names,
    with_momentum_ahead,
    until_it_is_flat,
    near_a_copy,
    asks_after_some_iterations,
)


def through_what_is_carried(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        m = torch.zeros_like(w)
        for _ in range(3):
            (g,) = grad(loss_of(xs[t], ys[t], w + 0.3 * m), [w], create_graph=True)
            m = 0.1 * m + 0.1 * g
        total = total + loss_of(xs[t], ys[t], m)
    return total


def asks_from_the_second_on(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a = w.detach()
        for _ in range(2):
            (g,) = grad(loss_of(xs[t], ys[t], a), [a], create_graph=True)
            a = a - 0.1 * g + v
        total = total + loss_of(xs[t], ys[t], a)
    return total


def beside_one_made_of_it(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a, m = w, 2 * w
        for _ in range(2):
            (g,) = grad(loss_of(xs[t], ys[t], a) + (a * m).sum(), [a], create_graph=True)
            m = m * 0.5
            a = a - 0.1 * g
        total = total + loss_of(xs[t], ys[t], a)
    return total


def beside_one_made_of_the_next(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a, m = w, torch.zeros_like(w)
        for _ in range(2):
            (g,) = grad(loss_of(xs[t], ys[t], a) + (a * m).sum(), [a], create_graph=True)
            a = a - 0.1 * g
            m = 2 * a
        total = total + loss_of(xs[t], ys[t], a)
    return total


def one_under_two_names(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a, b = w, w
        for _ in range(2):
            g, h = grad(loss_of(xs[t], ys[t], a) + 3 * b.sum(), [a, b], create_graph=True)
            a = a - 0.1 * g
            b = b - 0.1 * h
        total = total + loss_of(xs[t], ys[t], a) + (b * b).sum()
    return total


def one_of_the_other(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a, b = w, v
        for _ in range(2):
            g, h = grad(loss_of(xs[t], ys[t], a) + 3 * b.sum(), [a, b], create_graph=True)
            a = a - 0.1 * g
            b = a - 0.1 * h
        total = total + loss_of(xs[t], ys[t], a) + (b * b).sum()
    return total


def handed_on_at_times(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a, m = w, torch.zeros_like(w)
        for s in range(4):
            (g,) = grad(loss_of(xs[t], ys[t], a) + (a * m).sum(), [a], create_graph=True)
            m = 0.9 * m + g
            if s % 2 == 0:
                a = a - 0.1 * g
        total = total + loss_of(xs[t], ys[t], a)
    return total


def in_turns(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a, b = w, v
        for _ in range(3):
            (g,) = grad(loss_of(xs[t], ys[t], a), [a], create_graph=True)
            a, b = b, a - 0.1 * g
        total = total + loss_of(xs[t], ys[t], a)
    return total


def either(xs, ys, w, v):
    total = 0.0
    for t in range(xs.shape[0]):
        a = w if t % 2 else v
        (g,) = grad(loss_of(xs[t], ys[t], a) + (w * a).sum(), [a], create_graph=True)
        total = total + loss_of(xs[t], ys[t], a - 0.1 * g)
    return total


REFUSED = (
    through_what_is_carried,
    asks_from_the_second_on,
    beside_one_made_of_it,
    beside_one_made_of_the_next,
    one_under_two_names,
    one_of_the_other,
    handed_on_at_times,
    in_turns,
    either,
)


def outcome(function: Any) -> Any:
    """The value and its gradients, or the exception."""
    torch.manual_seed(0)
    xs, ys = torch.randn(3, 4, 2, dtype=torch.float64), torch.randn(3, 4, dtype=torch.float64)
    w, v = (torch.randn(2, dtype=torch.float64, requires_grad=True) for _ in range(2))
    try:
        value = function(xs, ys, w, v)
        return [value.detach(), *grad(value, [w, v], allow_unused=True)]
    except RuntimeError as error:
        return type(error), str(error)


def assert_same(lifted: Any, function: Any) -> None:
    want, got = outcome(function), outcome(lifted)
    assert type(want) is type(got)
    if isinstance(want, tuple):
        assert want == got
        return
    for one, other in zip(want, got, strict=True):
        assert (one is None) == (other is None)
        assert one is None or torch.allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", LIFTED, ids=lambda function: function.__name__)
def test_gradients_by_carried_tensors_are_taken_in_lanes(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    assert_same(lifted, function)
    assert "kept" not in str(lifted.report())
    assert_same(lifted, function)


@pytest.mark.parametrize("function", LIFTED + REFUSED, ids=lambda function: function.__name__)
def test_kernels_give_the_loop_s_gradients(function):
    assert_same(lift(function, backend="native", verify="off"), function)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_gradients_that_earlier_iterations_have_a_part_in_are_left_to_the_loop(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    assert_same(lifted, function)
    assert "kept [gradient]" in str(lifted.report())
