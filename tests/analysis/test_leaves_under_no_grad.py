"""What runs under torch.no_grad() takes no part in gradients by leaves that the iteration makes either."""

import pytest
import torch
from tests.frontend.gradients_of_leaves import check, double


def divided_by_its_norm(w, x):
    total = 0.0
    for i in range(len(x)):
        a = x[i].clone().requires_grad_()
        with torch.no_grad():
            n = a.norm()
        (g,) = torch.autograd.grad((a / n * w).sum(), a)
        total += g
    return total


def gone_back(w, x):
    found = []
    for row in x:
        a = row.detach().clone()
        a.requires_grad = True
        with torch.no_grad():
            largest, scaled = a.abs().max(), a * w
        (a * a * scaled / largest).sum().backward()
        found.append(a.grad)
    return found


@torch.no_grad()
def spread(a):
    return (a - a.mean()).square().mean()


def by_a_helper(w, x):
    found = torch.zeros_like(x)
    for i in range(len(x)):
        a = x[i].clone().requires_grad_()
        (found[i],) = torch.autograd.grad((a * spread(a) * w).sum(), a)
    return found


def made_inside(w, x):
    found = torch.zeros_like(x)
    for i in range(len(x)):
        with torch.no_grad():
            a = x[i] * 2
        a.requires_grad_()
        (found[i],) = torch.autograd.grad((a * a * w).sum(), a)
    return found


def made_inside_for_numpy(w, x):
    found = []
    for i in range(len(x)):
        with torch.no_grad():
            a = x[i] * 2
        a.requires_grad_()
        found.append((a * w).numpy())
    return found


LIFTED = (divided_by_its_norm, gone_back, by_a_helper, made_inside)


@pytest.mark.parametrize("function", LIFTED)
def test_what_is_not_recorded_is_a_constant(function):
    calls = [(double(n, seed=1, asks=asks), double(5, n)) for n in (3, 4) for asks in (False, True)]
    assert "kept" not in check(function, *calls)


def test_a_tensor_that_asks_is_not_handed_to_numpy():
    assert check(made_inside_for_numpy, (double(3), double(5, 3))) == {"kept"}
