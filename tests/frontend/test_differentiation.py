"""``torch.autograd.grad`` in a loop: its gradients are written out, and are those of the loop, or the loop is kept."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from tests.frontend.differentiation_programs import (
    LIFTED,
    MORE,
    MORE_OTHERS,
    OTHERS,
    by_a_view,
    by_given_parameters,
    by_inputs,
    by_parameters,
    handed_out_alone,
    penalty,
    twice,
)
from torch import nn

from looplift import lift

# ---------------------------------------------------------------- the comparison


def network(kind: type[nn.Module] = nn.Tanh, dtype=torch.float32) -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 4), kind(), nn.Linear(4, 3)).to(dtype)


def data(count, dtype=torch.float32, seed=0):
    torch.manual_seed(seed)
    return torch.randn(count, 4, dtype=dtype), torch.randint(0, 3, (count,))


def leaves(value):
    return [value] if isinstance(value, torch.Tensor) else [t for one in value for t in leaves(one)]


def outcome(function, net, xs, ys):
    """What a caller sees: results, gradients of a sum of them, whether arguments ask for any, or the exception."""
    net, xs, ys = copy.deepcopy((net, xs, ys))
    try:
        found = leaves(function(net, xs, ys)) if function is not None else []
        grown = [t for t in found if t.requires_grad]
        grads = [None for _ in net.parameters()]
        if grown:
            total = torch.stack(
                [(t * torch.linspace(0.5, 1.5, t.numel()).view_as(t)).sum().float() for t in grown]
            ).sum()
            grads = list(torch.autograd.grad(total, list(net.parameters()), allow_unused=True))
        return [t.detach() for t in found], [t.requires_grad for t in found], grads, xs.requires_grad, xs.detach()
    except Exception as error:
        return type(error), str(error)


def assert_alike(got, want):
    assert type(got) is type(want)
    if isinstance(want, torch.Tensor):
        assert got.dtype == want.dtype
        torch.testing.assert_close(got, want, equal_nan=True, rtol=1e-4, atol=1e-5)
    elif isinstance(want, (list, tuple)):
        assert len(got) == len(want)
        for left, right in zip(got, want):
            assert_alike(left, right)
    else:
        assert got == want


def compare(function, *cases):
    lifted = lift(function, verify="off")
    for net, xs, ys in cases:
        for _ in range(2):
            assert_alike(outcome(lifted, net, xs, ys), outcome(function, net, xs, ys))
    return lifted


def with_infinite():
    xs, ys = data(4)
    xs[1, 2], xs[2, 0] = float("inf"), float("nan")
    return network(), xs, ys


@pytest.mark.parametrize("function", (*LIFTED, *MORE))
def test_lifted(function):
    lifted = compare(function, (network(), *data(5)), (network(), *data(7, seed=1)), (network(), *data(2)))
    loops = [loop for loop in lifted.report().loops if loop.decision != "kept"]
    assert loops, lifted.report()
    compare(function, (network(nn.ReLU), *data(4)), (network(nn.Sigmoid), *data(4)))
    compare(function, (network(), *data(0)), (network(), *data(1)))
    compare(function, (network(dtype=torch.float64), *data(3, torch.float64)))
    compare(function, with_infinite())


@pytest.mark.parametrize("function", LIFTED)
def test_frozen(function):
    """Parameters that ask for no gradient: torch raises where it would need one."""
    compare(function, (network().requires_grad_(False), *data(3)))
    compare(function, (network(), *data(3)), (network().requires_grad_(False), *data(3)))


@pytest.mark.parametrize("function", (*OTHERS, *MORE_OTHERS))
def test_as_the_loop(function):
    compare(function, (network(), *data(5)), (network(nn.ReLU), *data(3, seed=1)))


@pytest.mark.parametrize("function", (by_inputs, by_a_view, penalty, twice, handed_out_alone))
def test_inputs_that_ask_for_gradients(function):
    xs, ys = data(4)
    compare(function, (network(), xs.requires_grad_(), ys))


def copies_that_ask(xs):
    return [xs[i].clone().requires_grad_() for i in range(len(xs))]


def views_of_copies_that_ask(xs):
    out = []
    for x in xs:
        out.append((x * 2).requires_grad_(True)[:2])
    return out


def last_that_asks(xs):
    found = xs.sum()
    for x in xs:
        found = (x * 2).requires_grad_()
    return found


@pytest.mark.parametrize("function", (copies_that_ask, views_of_copies_that_ask, last_that_asks))
def test_where_nothing_is_recorded(function):
    """What the loop makes a leaf asks for a gradient, and so do views of it."""
    lifted = lift(function, verify="off")
    for asks in (True, False):
        for count in (1, 4, 0):
            xs = torch.randn(count, 3, requires_grad=asks)
            for mode in (torch.no_grad, torch.enable_grad, torch.inference_mode):
                with mode():
                    got, wanted = leaves(lifted(xs)), leaves(function(xs))
                assert_alike(got, wanted)
                assert [one.requires_grad for one in got] == [one.requires_grad for one in wanted]


def jacobian(x, y):
    rows = torch.zeros(y.numel(), x.numel())
    for i in range(y.numel()):
        rows[i, :] = torch.autograd.grad(y[i], x, retain_graph=True)[0]
    return rows


def jacobian_products(x, y):
    found = []
    for i in range(len(x)):
        v = torch.linspace(0.0, 1.0, y.numel()) * i
        found.append(torch.autograd.grad(torch.dot(y, v) + (x * i).sum(), x, retain_graph=True)[0])
    return torch.stack(found)


def jacobian_once(x, y):
    found = []
    for i in range(y.numel()):
        found.append(torch.autograd.grad(y[i], x)[0])
    return found


def of_both(x, y):
    found = []
    for i in range(y.numel()):
        found.append(torch.autograd.grad(y[i] * x[0], [x, y], retain_graph=True))
    return found


def computed(x):
    return torch.tanh(torch.outer(x, x)).sum(0) * x.exp()


def taken(function, x, y):
    try:
        return [one.clone() for one in leaves(function(x, y))]
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", (jacobian, jacobian_products, jacobian_once, of_both))
def test_through_what_was_computed_before(function):
    torch.manual_seed(0)
    lifted = lift(function, verify="off")
    for count in (4, 3, 4, 1, 0, 4):
        x = torch.randn(count, requires_grad=True)
        assert_alike(taken(lifted, x, computed(x)), taken(function, x, computed(x)))
    if function is not jacobian_once and function is not of_both:
        assert [loop.decision for loop in lifted.report().loops] == ["lanes"]
    other = torch.randn(4, requires_grad=True)
    x = torch.randn(4, requires_grad=True)
    assert_alike(taken(lifted, x, computed(other)), taken(function, x, computed(other)))
    gone = computed(x)
    gone.sum().backward()
    assert_alike(taken(lifted, x, gone), taken(function, x, gone))
    plain = x.detach()
    assert_alike(taken(lifted, plain, computed(x)), taken(function, plain, computed(x)))
    assert_alike(taken(lifted, x, computed(plain)), taken(function, x, computed(plain)))
    assert_alike(taken(lifted, x, x), taken(function, x, x))


def test_tied_parameters():
    """One tensor under two names has the gradients of both."""
    net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    tied = copy.deepcopy(net)
    tied[2].weight = tied[0].weight
    compare(by_parameters, (net, *data(3)), (tied, *data(3)))
    compare(by_parameters, (tied, *data(3)), (net, *data(3)))


def test_hooks():
    """What a hook makes of a gradient counts."""

    def run(net, xs, ys):
        handle = net[0].weight.register_hook(lambda g: g * 2) if len(xs) > 3 else None
        try:
            return by_given(net, xs, ys)
        finally:
            if handle is not None:
                handle.remove()

    by_given = lift(by_given_parameters, verify="off")
    for count in (3, 5):
        xs, ys = data(count)
        got = run(network(), xs, ys)
        want = by_given_parameters(network(), xs, ys)
        assert_alike(got, want) if count == 3 else None
        if count > 3:
            net = network()
            handle = net[0].weight.register_hook(lambda g: g * 2)
            assert_alike(got, by_given_parameters(net, xs, ys))
            handle.remove()


def test_layers_with_and_without_a_bias_are_two_variants():
    def slopes(layer, xs):
        out = []
        for x in xs:
            point = x.clone().requires_grad_()
            out.append(torch.autograd.grad(torch.tanh(layer(point)).sum(), point)[0])
        return torch.stack(out)

    torch.manual_seed(0)
    lifted, (xs, _) = lift(slopes, verify="off"), data(5)
    for bias in (False, True, False):
        layer = nn.Linear(4, 2, bias=bias)
        torch.testing.assert_close(lifted(layer, xs), slopes(layer, xs))
    assert [loop.decision for loop in lifted.report().loops] == ["lanes"]
