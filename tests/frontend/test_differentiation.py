"""``torch.autograd.grad`` in a loop: its gradients are written out, and are those of the loop, or the loop is kept."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from looplift import lift

# ---------------------------------------------------------------- lifted


def by_parameters(net, xs, ys):
    found = []
    for i in range(len(xs)):
        loss = F.cross_entropy(net(xs[i : i + 1]), ys[i : i + 1])
        found.append(torch.autograd.grad(loss, list(net.parameters())))
    return [torch.stack(one) for one in zip(*found)]


def by_given_parameters(net, xs, ys):
    params = [p for p in net.parameters()]
    scores = []
    for x, y in zip(xs, ys):
        grads = torch.autograd.grad(F.cross_entropy(net(x), y), params)
        scores.append(sum((g**2).sum() for g in grads))
    return torch.stack(scores)


def by_inputs(net, xs, ys):
    found = []
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_(True)
        (g,) = torch.autograd.grad(net(x).sum(), x)
        found.append(g)
    return torch.stack(found)


def by_a_view(net, xs, ys):
    found = torch.zeros_like(xs)
    for i in range(len(xs)):
        x = xs[i]
        x.requires_grad_()
        found[i] = torch.autograd.grad(net(x)[0], x)[0]
    return found


def penalty(net, xs, ys):
    total = 0.0
    for x in xs:
        x = x.detach().requires_grad_(True)
        g = torch.autograd.grad(net(x).sum(), x, create_graph=True)[0]
        total = total + (g.norm() - 1) ** 2
    return total / len(xs)


def twice(net, xs, ys):
    found = []
    for i in range(len(xs)):
        t = xs[i, 0].detach().clone().requires_grad_(True)
        u = net(torch.stack([t, t * 2, t.sin(), t.exp()])).sum()
        first = torch.autograd.grad(u, t, create_graph=True)[0]
        second = torch.autograd.grad(first, t, create_graph=True)[0]
        found.append(first * second + u)
    return torch.stack(found)


def with_seeds(net, xs, ys):
    found = []
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_(True)
        v = torch.tanh(xs[i, :3])
        found.append(torch.autograd.grad(net(x), x, grad_outputs=v)[0])
    return torch.stack(found)


def clipped(net, xs, ys):
    params = list(net.parameters())
    total = [torch.zeros_like(p) for p in params]
    for i in range(len(xs)):
        grads = torch.autograd.grad(F.cross_entropy(net(xs[i]), ys[i]), params)
        norm = torch.stack([(g**2).sum() for g in grads]).sum().sqrt()
        scale = torch.clamp(0.5 / (norm + 1e-6), max=1.0)
        total = [t + g * scale for t, g in zip(total, grads)]
    return total


def of_formulas(net, xs, ys):
    """Each operation that has a derivative, on vectors and matrices."""
    w, b = net[0].weight, net[0].bias
    found = []
    for i in range(len(xs)):
        h = torch.tanh(w @ xs[i] + b)
        m = torch.outer(xs[i], xs[i]) @ w.t()
        s = (m / (1 + m.square())).mean(dim=0) + torch.sigmoid(h) * h.exp() - h.abs()
        q = torch.cat([s, torch.log(1.5 + h), (h**3).sum(0, keepdim=True)]).reshape(-1, 1)
        loss = (torch.softmax(q, 0) * q).mean() + torch.log_softmax(h, dim=0)[1] + (s.cos() * 2.0).sum()
        found.append(torch.autograd.grad(loss, [w, b])[0])
    return torch.stack(found)


def of_losses(net, xs, ys):
    w = net[0].weight
    found = []
    for i in range(len(xs) - 1):
        h = F.linear(xs[i : i + 2], w)
        target = F.one_hot(ys[i], h.shape[1]).float().expand(h.shape[0], -1)
        loss = F.mse_loss(h, target) + F.mse_loss(h, target, reduction="sum")
        loss = loss + F.cross_entropy(h, ys[i : i + 1].expand(h.shape[0]), reduction="sum")
        found.append(torch.autograd.grad(loss, w)[0])
    return torch.stack(found)


def broadcast(net, xs, ys):
    w, b = net[0].weight, net[0].bias
    found = []
    for i in range(len(xs)):
        h = (w * xs[i] + b.unsqueeze(1)) * 2 - b.sum()
        found.append(torch.autograd.grad((h * xs[i, 0]).sum(), [b, w])[0])
    return torch.stack(found)


def stopped(net, xs, ys):
    w = net[0].weight
    found = []
    for i in range(len(xs)):
        h = w @ xs[i]
        loss = (h * h.detach()).sum() + h.argmax() * h.sum()
        found.append(torch.autograd.grad(loss, w)[0])
    return torch.stack(found)


def by_what_is_between(net, xs, ys):
    w = net[0].weight
    found, others = [], []
    for i in range(len(xs)):
        h = w @ xs[i]
        first, second = torch.autograd.grad((h.exp() * h).sum() + (w * w).sum(), [h, w])
        found.append(first)
        others.append(second)
    return torch.stack(found), torch.stack(others)


def in_some_iterations(net, xs, ys):
    w = net[0].weight
    total = torch.zeros_like(w)
    for i in range(len(xs)):
        if ys[i] > 0:
            total = total + torch.autograd.grad(torch.log(torch.exp(w @ xs[i]).sum()), w)[0]
    return total


LIFTED = (
    by_parameters, by_given_parameters, by_inputs, by_a_view, penalty, twice, with_seeds, of_formulas,
    of_losses, broadcast, stopped, by_what_is_between, in_some_iterations,
)  # fmt: skip

# ---------------------------------------------------------------- the loop raises, or nobody knows


def of_what_is_not_used(net, xs, ys):
    found = []
    for i in range(len(xs)):
        found.append(torch.autograd.grad((net[0].weight @ xs[i]).sum(), net[0].bias)[0])
    return torch.stack(found)


def of_what_may_be_unused(net, xs, ys):
    found = []
    for i in range(len(xs)):
        found.append(torch.autograd.grad((net[0].weight @ xs[i]).sum(), net[0].bias, allow_unused=True)[0])
    return found


def of_several(net, xs, ys):
    found = []
    for i in range(len(xs)):
        found.append(torch.autograd.grad(net(xs[i]), net[0].weight)[0])
    return torch.stack(found)


def freed(net, xs, ys):
    w = net[0].weight
    found = []
    for i in range(len(xs)):
        h = torch.tanh(w @ xs[i])
        first = torch.autograd.grad(h.sum(), w)[0]
        found.append(first + torch.autograd.grad((h * h).sum(), w)[0])
    return torch.stack(found)


def freed_before(net, xs, ys):
    w = net[0].weight
    h = torch.tanh(w @ xs.t())
    found = []
    for i in range(len(xs)):
        found.append(torch.autograd.grad(h[:, i].sum(), w)[0])
    return torch.stack(found)


def handed_out(net, xs, ys):
    losses, found = [], []
    for i in range(len(xs)):
        loss = torch.tanh(net[0](xs[i])).sum()
        found.append(torch.autograd.grad(loss, net[0].weight)[0])
        losses.append(loss)
    return torch.stack(losses), torch.stack(found)


def handed_out_alone(net, xs, ys):
    found = []
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_(True)
        found.append(x * 2)
    return torch.stack(found)


def through_a_loop(net, xs, ys):
    w = net[0].weight
    found = []
    for i in range(len(xs)):
        total = torch.zeros(())
        for j in range(len(xs)):
            total = total + (w @ xs[j]).sum() * i
        found.append(torch.autograd.grad(total, w)[0])
    return torch.stack(found)


def through_a_branch(net, xs, ys):
    w = net[0].weight
    found = []
    for i in range(len(xs)):
        loss = (w @ xs[i]).sum() if ys[i] > 0 else (w * w).sum()
        found.append(torch.autograd.grad(loss, w)[0])
    return torch.stack(found)


def in_place(net, xs, ys):
    w = net[0].weight
    found = []
    for i in range(len(xs)):
        h = torch.exp(w @ xs[i])
        h += 1
        found.append(torch.autograd.grad(h.sum(), w)[0])
    return torch.stack(found)


def of_a_given_list(net, xs, ys):
    rows = list(xs)
    found = []
    for i in range(len(rows)):
        x = rows[i].requires_grad_()
        found.append(torch.autograd.grad((x * x).sum(), x)[0])
    return torch.stack(found), rows


def unrolled(net, xs, ys):
    w = net[0].weight
    for i in range(len(xs)):
        w = w - 0.1 * torch.autograd.grad(torch.tanh(w @ xs[i]).sum(), w, create_graph=True)[0]
    return w


def inside_no_grad(net, xs, ys):
    found = []
    with torch.no_grad():
        for i in range(len(xs)):
            found.append(torch.autograd.grad(net(xs[i]).sum(), net[0].weight)[0])
    return torch.stack(found)


def of_other_dtypes(net, xs, ys):
    found = []
    for i in range(len(xs)):
        found.append(torch.autograd.grad((net[0].weight.double() @ xs[i].double()).sum(), net[0].weight)[0])
    return torch.stack(found)


OTHERS = (
    clipped, of_what_is_not_used, of_what_may_be_unused, of_several, freed, freed_before, handed_out, handed_out_alone,
    through_a_loop, through_a_branch, in_place, of_a_given_list, unrolled, inside_no_grad, of_other_dtypes,
)  # fmt: skip


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


@pytest.mark.parametrize("function", LIFTED)
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


@pytest.mark.parametrize("function", OTHERS)
def test_as_the_loop(function):
    compare(function, (network(), *data(5)), (network(nn.ReLU), *data(3, seed=1)))


@pytest.mark.parametrize("function", (by_inputs, by_a_view, penalty, twice, handed_out_alone))
def test_inputs_that_ask_for_gradients(function):
    xs, ys = data(4)
    compare(function, (network(), xs.requires_grad_(), ys))


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
