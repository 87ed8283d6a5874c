"""What was made of a tensor before it asked for a gradient has none: a loop that reads it later stays."""

import pytest
import torch
from tests.frontend.gradients_of_leaves import check, double


def summed_before(w, x):
    total = 0.0
    for i in range(len(x)):
        a = x[i].clone()
        s = a.sum()
        a.requires_grad_()
        (a * a * s).sum().backward()
        total += a.grad
    return total


def viewed_before(w, x):
    total = 0.0
    for i in range(len(x)):
        a = x[i].clone()
        b = a.view(-1)
        a.requires_grad = True
        (g,) = torch.autograd.grad((a * b * w).sum(), a)
        total += g
    return total


def loss_before(w, x):
    found = []
    for i in range(len(x)):
        w.grad = None
        a = x[i].clone()
        y = w * a * a
        a.requires_grad_()
        y.sum().backward()
        found.append(a.grad is None)
    return found, w.grad


def asked_by_both(w, x):
    total = 0.0
    for i in range(len(x)):
        a = x[i].clone()
        b = a * 2
        a.requires_grad_()
        b.requires_grad_()
        (a * b * w).sum().backward()
        total += a.grad + b.grad
    return total


def chosen_before(w, x):
    total = 0.0
    for i in range(len(x)):
        a = x[i].clone()
        s = a.sum() if x[i, 0] > 0 else a.max()
        a.requires_grad_()
        (g,) = torch.autograd.grad((a * a * s).sum(), a)
        total += g
    return total


def stored_before(w, x):
    kept, total = torch.zeros_like(x), 0.0
    for i in range(len(x)):
        a = x[i].clone()
        kept[i] = a * 2
        a.requires_grad_()
        (g,) = torch.autograd.grad((a * kept[i]).sum(), a)
        total += g
    return total


def in_a_branch(w, x):
    found = []
    for i in range(len(x)):
        a = x[i].clone()
        if x[i, 0] > 0:
            a.requires_grad_()
        (g,) = torch.autograd.grad((a * a * w).sum(), a)
        found.append(g)
    return found


KEPT = (summed_before, viewed_before, loss_before, asked_by_both, chosen_before, stored_before, in_a_branch)


@pytest.mark.parametrize("function", KEPT)
def test_a_use_before_is_no_part_of_the_gradient(function):
    assert check(function, *((double(n, seed=1, asks=True), double(4, n)) for n in (3, 2))) == {"kept"}


def places_before(w, x):
    total = 0.0
    for i in range(len(x)):
        a = x[i].clone()
        best, size = (a * w).argmax(), a.shape[0]
        a.requires_grad_()
        (a * a * w)[best].backward()
        total += a.grad * size
    return total


def unread_later(w, x):
    total = 0.0
    for i in range(len(x)):
        a = x[i].clone()
        best = (a * w + a).argmax()
        a.requires_grad_()
        (a * a * w)[best].backward()
        total += a.grad
    return total


@pytest.mark.parametrize("function", (places_before, unread_later))
def test_uses_that_stop_gradients(function):
    assert "kept" not in check(function, (double(3, seed=1), double(4, 3)), (double(2, seed=1), double(5, 2)))
