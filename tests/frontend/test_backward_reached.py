"""Which tensors get a gradient from backward(), and which get zeros: those that an operation on the way reaches."""

import pytest
import torch
from tests.frontend.gradients_of_leaves import check, double


def penalty(w, v, x):
    for i in range(len(x)):
        w.grad = None
        v.grad = None
        a = x[i].clone().requires_grad_()
        (g,) = torch.autograd.grad((w * a * a).sum(), a, create_graph=True)
        (g.pow(2).sum() + (v * a).sum()).backward()
    return w.grad, v.grad


def penalty_alone(w, v, x):
    total = 0.0
    for i in range(len(x)):
        w.grad = None
        a = x[i].clone().requires_grad_()
        (g,) = torch.autograd.grad((torch.tanh(w * a) * v.detach()).sum(), a, create_graph=True)
        ((g.norm() - 1) ** 2).backward()
        total += a.grad + w.grad
    return total, w.grad


def no_graph(w, v, x):
    for i in range(len(x)):
        w.grad = None
        v.grad = None
        a = x[i].clone().requires_grad_()
        (g,) = torch.autograd.grad((w * a * a).sum(), a)
        (g.pow(2) * v).sum().backward()
    return w.grad, v.grad


def linear_in_its_input(w, v, x):
    for i in range(len(x)):
        w.grad = None
        v.grad = None
        a = x[i].clone().requires_grad_()
        (g,) = torch.autograd.grad((w + a).sum(), a, create_graph=True)
        (g.pow(2).sum() + (v * a).sum()).backward()
    return w.grad, v.grad


def sometimes(w, v, x):
    for i in range(len(x)):
        (v * x[i]).sum().backward()
        if x[i, 0] > 0.5:
            (w * x[i]).sum().backward()
    return w.grad, v.grad


def by_experts(w, v, x):
    for row in x:
        if row[0] > 0.5:
            (w * row).square().sum().backward()
        else:
            (v * row).sin().sum().backward()
    return w.grad, v.grad


@pytest.mark.parametrize("function", (penalty, penalty_alone, no_graph, linear_in_its_input, sometimes, by_experts))
def test_leaves_that_are_reached(function):
    low, high = double(4, 3) * 0.4, double(4, 3).abs() * 0.4 + 0.6
    w, v = double(3, seed=1, asks=True), double(3, seed=2, asks=True)
    found = check(function, (w, v, double(4, 3) + 0.5), (w, v, low), (w, v, high), (w, v, double(1, 3)))
    assert "kept" not in found or function in (linear_in_its_input, sometimes, by_experts)


STEPS = {
    "round": lambda a: a.round(),
    "places": lambda a: torch.round(a, decimals=1),
    "floor": torch.floor,
    "ceil": lambda a: a.ceil(),
    "sign": lambda a: a.sign(),
    "sgn": torch.sgn,
    "trunc": torch.trunc,
    "clamp": lambda a: a.clamp(-1e-6, 1e-6),
    "where": lambda a: torch.where(a > 0, 1.0, 0.0),
    "detach": lambda a: a.detach(),
    "long": lambda a: a.long(),
    "like": torch.ones_like,
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_give_zeros_and_others_nothing(name):
    step = STEPS[name]

    def left(w, v, x):
        for i in range(len(x)):
            w.grad = None
            v.grad = None
            (step(w) * x[i] + v * x[i]).sum().backward()
        return w.grad, v.grad

    def taken(w, v, x):
        total = 0.0
        for i in range(len(x)):
            (g,) = torch.autograd.grad((step(w * x[i]) + w * x[i]).sum(), w)
            total += g
        return total

    for function in (left, taken):
        calls = [(double(n, seed=1, asks=True), double(n, seed=2, asks=True), double(4, n)) for n in (3, 2)]
        assert "kept" not in check(function, *calls)
