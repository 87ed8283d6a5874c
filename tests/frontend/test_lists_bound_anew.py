"""A list or dict that each iteration makes of the one before is carried item by item, and is no object of its own."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from looplift import lift

grad = torch.autograd.grad


def net(x, p):
    return torch.tanh(x @ p[0] + p[1]) @ p[2]


def steps_of_a_list(xs, ys, w, b, v, count):
    total = 0.0
    for t in range(xs.shape[0]):
        p = [w, b, v]
        for _ in range(count):
            g = grad(((net(xs[t], p) - ys[t]) ** 2).mean(), p, create_graph=True)
            p = [pi - 0.1 * gi for pi, gi in zip(p, g)]
        total = total + ((net(xs[t], p) - ys[t]) ** 2).mean()
    return total


def one_step(xs, ys, w, b, v, count):
    total = 0.0
    for t in range(xs.shape[0]):
        p = [w, b]
        g = grad(((xs[t] @ p[0] + p[1]) ** 2).mean(), p, create_graph=True)
        q = [pi - 0.1 * gi for pi, gi in zip(p, g)]
        total = total + ((xs[t] @ q[0] + q[1]) ** 2).mean()
    return total


def steps_of_a_dict(xs, ys, w, b, v, count):
    total = 0.0
    for t in range(xs.shape[0]):
        p = {"w": w, "b": b}
        for _ in range(count):
            g = grad(((xs[t] @ p["w"] + p["b"]) ** 2).mean(), list(p.values()), create_graph=True)
            p = {k: v - 0.1 * gi for (k, v), gi in zip(p.items(), g)}
        total = total + ((xs[t] @ p["w"] + p["b"]) ** 2).mean()
    return total


LIFTED = (steps_of_a_list, one_step, steps_of_a_dict)


def changed_under_another_name(xs, ys, w, b, v, count):
    total = 0.0
    for t in range(xs.shape[0]):
        p = [w, b]
        q = p
        for _ in range(count):
            g = grad(((xs[t] @ p[0] + p[1]) ** 2).mean(), p, create_graph=True)
            q[0] = q[0] * 2
            p = [pi - 0.1 * gi for pi, gi in zip(p, g)]
        total = total + ((xs[t] @ p[0] + p[1]) ** 2).mean() + q[0].sum()
    return total


def changed_behind_the_loop(xs, ys, w, b, v, count):
    total = 0.0
    for t in range(xs.shape[0]):
        p = {"w": w, "b": b}
        q = p
        for _ in range(count):
            p = {"w": p["w"] * 0.5, "b": p["b"] - p["w"].sum()}
        p["b"] = p["b"] * 2
        total = total + ((xs[t] @ p["w"] + p["b"]) ** 2).mean() + q["b"].sum()
    return total


def compared(xs, ys, w, b, v, count):
    total = 0.0
    for t in range(xs.shape[0]):
        p = {"w": w, "b": b}
        q = p
        for _ in range(count):
            p = {"w": p["w"] * 0.5, "b": p["b"] - p["w"].sum()}
        total = total + (xs[t] @ p["w"]).sum() + (3.0 if p is q else 5.0)
    return total


def exchanged(xs, ys, w, b, v, count):
    total = 0.0
    for t in range(xs.shape[0]):
        p, q = {"w": w, "b": b}, {"w": w * 2, "b": b * 3}
        for _ in range(count):
            p, q = q, {"w": p["w"] + q["w"], "b": q["b"]}
        total = total + ((xs[t] @ p["w"] + q["b"]) ** 2).mean()
    return total


OTHERS = (changed_under_another_name, changed_behind_the_loop, compared, exchanged)


def outcome(function: Any, count: int) -> list[torch.Tensor]:
    torch.manual_seed(0)
    shapes = ((3, 5, 4), (3, 5, 2), (4, 3), (3,), (3, 2))
    xs, ys, *given = (torch.randn(shape, dtype=torch.float64) for shape in shapes)
    given = [one.requires_grad_() for one in given]
    value = function(xs, ys, *given, count)
    return [value.detach(), *grad(value, given, allow_unused=True, materialize_grads=True)]


def assert_same(lifted: Any, function: Any) -> None:
    for count in (2, 0, 3):
        for one, other in zip(outcome(function, count), outcome(lifted, count), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", LIFTED, ids=lambda function: function.__name__)
def test_what_is_made_of_the_one_before_is_carried_item_by_item(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    assert_same(lifted, function)
    assert "kept" not in str(lifted.report())


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", OTHERS, ids=lambda function: function.__name__)
def test_what_is_an_object_of_its_own_is_one_in_the_results(function, backend):
    assert_same(lift(function, backend=backend, verify="off"), function)


def test_a_list_that_changes_after_it_was_handed_on_says_so():
    lifted = lift(changed_under_another_name, backend="torch", verify="off")
    outcome(lifted, 2)
    assert "changed after a loop has bound its name anew" in str(lifted.report())
