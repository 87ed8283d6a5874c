"""Functions that are made around a comprehension do not see its names, and those made in it do."""

from __future__ import annotations

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference

FACTOR = 3.0


def summed(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        k = 10
        scale = lambda v: v * k
        out[i] = sum(scale(x[i, k]) for k in range(3))
    return out


def listed_and_kept(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        j = 1
        get = lambda: x[i, j]
        found = [get() + x[i, j] * 2 for j in range(3)]
        out[i] = found[0] - found[2] * get()
    return out


def by_key(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        k = 2
        scale = lambda v: v * k
        table = {k: scale(x[i, k]) for k in range(3)}
        out[i] = table[0] - table[1] + table[2] * k
    return out


def searched(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        k = 2

        def scale(v):
            return v * k

        if any(scale(x[i, k]) > 1 for k in range(3)):
            out[i] = 1.0
        if all(scale(x[i, k]) < 2 for k in range(3)):
            out[i] += 2.0
        out[i] += next((scale(x[i, k]) for k in range(1, 3)), 0.0)
    return out


def greatest(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        k = 2

        def scale(v, by=None):
            return v * (k if by is None else by)

        out[i] = max(scale(x[i, k]) for k in range(3)) + scale(x[i, 0])
    return out


def of_the_module(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        scale = lambda v: v * FACTOR
        out[i] = sum(scale(x[i, FACTOR]) for FACTOR in range(3))
    return out


def helper(v):
    k = 10

    def scale(u):
        return u * k

    return sum(scale(v) for k in range(3))


def inlined(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = helper(x[i, 0])
    return out


def through_another(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        k, j = 10, 4.0
        inner = lambda v: v * k
        outer = lambda v: inner(v) + sum(inner(v) * k for k in range(2)) + j
        out[i] = sum(outer(x[i, k]) + sum(inner(x[i, j]) * j for j in range(2)) for k in range(3))
    return out


def made_inside(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        k = 10
        apply = lambda f, v: f(v) + k
        out[i] = sum(apply(lambda v: v * k, x[i, k]) for k in range(3))
    return out


def in_the_first_iterable(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        k = 10.0
        out[i] = sum(k for k in map(lambda v: v * k, x[i]))
    return out


def nested(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        k = 10.0
        scale = lambda v: v * k
        out[i] = sum(sum(scale(x[i, k]) for k in range(j + 1)) + scale(x[i, k]) for k in range(2) for j in range(2))
    return out


PROGRAMS = [summed, listed_and_kept, by_key, searched, greatest, of_the_module, inlined, through_another, made_inside,
            in_the_first_iterable, nested]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_names_of_comprehensions_are_seen_in_them_only(program, backend):
    x = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    lifted = lift(program, backend=backend, verify="off")
    assert difference(lifted(x), program(x)) is None


@pytest.mark.parametrize("program", [summed, inlined, made_inside], ids=lambda one: one.__name__)
def test_such_loops_are_lifted(program):
    lifted = lift(program, verify="off")
    lifted(torch.randn(5, 3, dtype=torch.float64))
    assert all(loop.lifted for loop in lifted.report().loops)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_gradients_go_by_the_names_around(backend):
    x = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    (expected,) = torch.autograd.grad(summed(x).square().sum(), x)
    (found,) = torch.autograd.grad(lift(summed, backend=backend, verify="off")(x).square().sum(), x)
    assert difference(found, expected) is None
