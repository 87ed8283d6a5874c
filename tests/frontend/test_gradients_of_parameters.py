"""Gradients by parameters that differ in shape are gone through item by item, in sums, lists and updates in place."""

from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 6), nn.Linear(6, 3)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


def norms_by_a_sum(net, xs, ys):
    found = []
    parameters = list(net.parameters())
    for i in range(len(xs)):
        grads = torch.autograd.grad(F.cross_entropy(net(xs[i : i + 1]), ys[i : i + 1]), parameters)
        found.append(torch.sqrt(sum((g**2).sum() for g in grads)))
    return torch.stack(found)


def norms_by_a_stack(net, xs, ys):
    found = torch.zeros(len(xs))
    parameters = tuple(net.parameters())
    for i in range(len(xs)):
        grads = torch.autograd.grad(F.cross_entropy(net(xs[i : i + 1]), ys[i : i + 1]), parameters)
        found[i] = torch.norm(torch.stack([g.norm() for g in grads]))
    return found


def flattened(net, xs, ys):
    found = []
    asking = [p for p in net.parameters() if p.requires_grad]
    for x, y in zip(xs, ys):
        grads = torch.autograd.grad(F.cross_entropy(net(x[None]), y[None]), asking)
        found.append(torch.cat([g.reshape(-1) for g in grads]))
    return torch.stack(found)


def flattened_from_a_generator(net, xs, ys):
    found = []
    parameters = list(net.parameters())
    for x, y in zip(xs, ys):
        grads = torch.autograd.grad(F.cross_entropy(net(x[None]), y[None]), parameters)
        found.append(torch.cat(tuple(g.flatten() for g in grads)))
    return torch.stack(found)


def largest(net, xs, ys):
    found = []
    parameters = list(net.parameters())
    for i in range(len(xs)):
        grads = torch.autograd.grad(F.cross_entropy(net(xs[i : i + 1]), ys[i : i + 1]), parameters)
        found.append(max(g.abs().max() for g in grads))
    return torch.stack(found)


def with_large_ones(net, xs, ys):
    count = 0
    parameters = list(net.parameters())
    for i in range(len(xs)):
        grads = torch.autograd.grad(F.cross_entropy(net(xs[i : i + 1]), ys[i : i + 1]), parameters)
        if any(g.abs().max() > 0.5 for g in grads) and all(torch.isfinite(g).all() for g in grads):
            count += 1
    return torch.tensor(count)


def clipped_in_place(net, xs, ys):
    total = [torch.zeros_like(p) for p in net.parameters()]
    parameters = list(net.parameters())
    for i in range(len(xs)):
        grads = list(torch.autograd.grad(F.cross_entropy(net(xs[i : i + 1]), ys[i : i + 1]), parameters))
        scale = torch.clamp(0.5 / (torch.sqrt(sum(g.pow(2).sum() for g in grads)) + 1e-6), max=1.0)
        for t, g in zip(total, grads):
            t += g * scale
    return total


PROGRAMS = (
    norms_by_a_sum,
    norms_by_a_stack,
    flattened,
    flattened_from_a_generator,
    largest,
    with_large_ones,
    clipped_in_place,
)


def example():
    torch.manual_seed(0)
    return Net(), torch.randn(7, 4), torch.randint(0, 3, (7,))


def assert_same(found, wanted):
    assert type(found) is type(wanted)
    if isinstance(wanted, list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            assert_same(one, other)
    else:
        assert (found.dtype, found.requires_grad) == (wanted.dtype, wanted.requires_grad)
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", PROGRAMS)
def test_items_are_taken_one_after_the_other(function, backend):
    net, xs, ys = example()
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        assert_same(lifted(net, xs, ys), function(net, xs, ys))
    if backend != "native":
        decisions = [loop.decision for loop in lifted.report().loops]
        assert "lanes" in decisions and set(decisions) <= {"lanes", "sequential"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_parameters_that_ask_for_none_are_left_out(backend):
    net, xs, ys = example()
    lifted = lift(flattened, backend=backend, verify="off")
    for frozen in (False, True, False):
        net.a.requires_grad_(not frozen)
        assert_same(lifted(net, xs, ys), flattened(net, xs, ys))


def items_changed_under_two_names(xs):
    held = [torch.zeros(2), torch.zeros(3)]
    first = held[0]
    for x in xs:
        for t, k in zip(held, (2, 3)):
            t += x[:k]
    return first, held


def items_bound_anew(xs):
    held = [torch.zeros(2), torch.zeros(3)]
    for x in xs:
        for t, k in zip(held, (2, 3)):
            t = t + x[:k]
            t += 1
    return held


def numbers_bound_anew(xs):
    held = [0.0, 1.0]
    for x in xs:
        for t in held:
            t += x[0]
    return xs.new_tensor(held)


def item_held_twice(xs):
    a = torch.zeros(2)
    held = [a, torch.zeros(3), a]
    for x in xs:
        for t, k in zip(held, (2, 3, 2)):
            t += x[:k]
    return held


def item_of_a_branch(xs):
    held = {"a": torch.zeros(2), "b": torch.zeros(3)}
    for x in xs:
        t = held["b"]
        if x[0] > 0:
            t += x[:3]
        t *= 0.5
    return [held["a"], held["b"]]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    (items_changed_under_two_names, items_bound_anew, numbers_bound_anew, item_held_twice, item_of_a_branch),
)
def test_updates_in_place_reach_the_items_that_they_change_alone(function, backend):
    torch.manual_seed(1)
    lifted = lift(function, backend=backend, verify="off")
    for count in (5, 0, 1):
        xs = torch.randn(count, 4)
        found, wanted = lifted(xs), function(copy.deepcopy(xs))
        assert_same(list(found), list(wanted)) if isinstance(wanted, (list, tuple)) else assert_same(found, wanted)
