"""Sums that both sides of an ``if`` grow in place, and values that may still be the number that they began as."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def contrastive(z, y):
    loss = 0.0
    for i in range(len(z)):
        for j in range(i + 1, len(z)):
            distance = torch.norm(z[i] - z[j])
            if y[i] == y[j]:
                loss += distance**2
            else:
                loss += torch.clamp(1 - distance, min=0) ** 2
    return loss / len(z)


def rows_of_each_side(z, y):
    out = []
    for i in range(len(z)):
        total = torch.zeros(3)
        for j in range(len(z)):
            if y[i] == y[j]:
                total += z[j, :3]
            else:
                total -= z[j, 1:4] * 2
        out.append(total)
    return torch.stack(out)


def another_name(z, y):
    loss = torch.zeros(())
    old = loss
    for i in range(len(z)):
        if y[i] > 1:
            loss += z[i].sum()
        else:
            loss += old + 1
    return loss


def read_beside(z, y):
    loss = torch.ones(3)
    for i in range(len(z)):
        if y[i] > 1:
            loss += z[i, :3]
        else:
            half = loss * 0.5
            loss -= half
    return loss


def number_in_some_iterations(z, y):
    loss = 0.0
    for i in range(len(z)):
        own = 0.0
        for j in range(len(z)):
            if y[j] == y[i] and i != j:
                own = own + (z[i] * z[j]).sum()
        if y[i] == 0:
            continue
        loss = loss + own / 2
    return loss / 2


def two_that_may_be_numbers(z, y):
    a, b = 0, 1
    for i in range(len(z)):
        if y[i] == 1:
            a = a + z[i].sum()
        if y[i] == 2:
            b = b + z[i].mean() * 2
    return a + b


def of_two_types(z, y):
    a, b = 0.5, 1
    for i in range(len(z)):
        if y[i] == 1:
            a = a + z[i].sum().double()
        if y[i] == 2:
            b = b + y[i]
    return a * b


LOOPS = [
    contrastive, rows_of_each_side, another_name, read_beside, number_in_some_iterations, two_that_may_be_numbers,
    of_two_types,
]  # fmt: skip


def outcome(function, z, y, grad):
    z = z.clone().requires_grad_(grad)
    try:
        found = function(z, y)
    except Exception as error:
        return type(error), str(error)
    if not isinstance(found, torch.Tensor):
        return type(found), found
    return found.dtype, found.detach(), *(torch.autograd.grad(found.sum(), z) if found.requires_grad else ())


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda f: f.__name__)
def test_sides(loop, grad):
    for labels in ("mixed", "one", "two", "none"):
        lifted = lift(loop, backend="torch")
        for n in (7, 1, 2, 0, 5):
            torch.manual_seed(n)
            z, y = torch.randn(n, 4), torch.full((n,), {"one": 1, "two": 2}.get(labels, 0))
            if labels == "mixed":
                y = torch.randint(0, 3, (n,))
            got, wanted = outcome(lifted, z, y, grad), outcome(loop, z, y, grad)
            assert got[0] == wanted[0] and len(got) == len(wanted)
            for one, other in zip(got[1:], wanted[1:], strict=True):
                if isinstance(other, torch.Tensor):
                    torch.testing.assert_close(one, other)
                else:
                    assert one == other


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("loop", [contrastive, rows_of_each_side, number_in_some_iterations], ids=lambda f: f.__name__)
def test_sides_are_lanes(loop, grad):
    lifted = lift(loop, backend="torch")
    outcome(lifted, torch.randn(7, 4), torch.tensor([0, 1, 2, 0, 1, 2, 1]), grad)
    assert {one.decision for one in lifted.report().loops} == {"lanes"}


def stored_before_and_on_one_side(x, y):
    h = torch.zeros_like(x)
    for s in range(y.shape[0]):
        new = torch.zeros_like(x)
        for i in range(len(x)):
            new[i] = x[i] * y[s]
        if s < 1:
            for i in range(len(x)):
                new[i] = new[i] + 1
        h = torch.sin(h) * 0.5 + new
    return h


def stored_on_one_side(x, y):
    h = torch.zeros_like(x)
    for s in range(y.shape[0]):
        new = x * y[s]
        if s < 1:
            for i in range(len(x)):
                new[i] = x[i] + 1
        h = torch.sin(h) * 0.5 + new
    return h


def stored_on_each_side(x, y):
    h = torch.zeros_like(x)
    for s in range(y.shape[0]):
        new = torch.zeros_like(x)
        if s < 1:
            for i in range(len(x)):
                new[i] = x[i] + 1
        else:
            for i in range(len(x)):
                new[i] = x[i] + h[i]
        h = torch.sin(h) * 0.5 + new
    return h


@pytest.mark.parametrize("function", [stored_before_and_on_one_side, stored_on_one_side, stored_on_each_side])
def test_what_one_side_stores_into_is_there_on_the_other(function):
    calls = [[torch.linspace(-1, 1, size), torch.linspace(0.5, 2, steps)] for size in (1, 2, 5) for steps in (1, 2, 4)]
    check(function, *calls, decisions={"lanes", "sequential"})


def share_of_what_is_above(x, y):
    n = 0
    for i in range(len(x)):
        if x[i] > y[0]:
            n = n + 1
    share = 1 / n if n > 0 else 0.0
    return share, n


def harmonic_mean(x, y):
    p = sum(1 for one in x if one.item() > 0) / len(y)
    q = sum(1 for one in y if one.item() > 0) / len(y)
    return 2 * p * q / (p + q) if p + q > 0 else 0.0


def chosen_in_turn(x, y):
    n = m = 0
    for i in range(len(x)):
        if x[i] > 0:
            n = n + 1
        if x[i] > 1:
            m = m + 1
    ratio = (1 / m if m > 0 else 2 / n) if n > 0 else -1.0
    return ratio, ratio + n


def remainder_and_sum(x, y):
    n = 0
    for i in range(len(x)):
        if x[i] > 0:
            n = n + 1
    if n > 0:
        rest, total = 7 % n, 7 // n
    else:
        rest, total = 0, n
    return rest, total, rest + total


@pytest.mark.parametrize("function", [share_of_what_is_above, harmonic_mean, chosen_in_turn, remainder_and_sum])
def test_the_side_of_a_number_that_is_not_taken_is_not_computed(function):
    calls = [[torch.linspace(low, low + 2, 5), torch.linspace(low, low + 1, 5)] for low in (-3.0, -1.5, -0.5, 0.5)]
    check(function, *calls)
    lifted = lift(function, backend="torch", verify="off")
    for call in calls:
        lifted(*call)
    assert "ran the loop as written" not in str(lifted.report())
