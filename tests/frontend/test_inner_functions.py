"""Functions that are defined beside a loop, and read the names around them."""

from __future__ import annotations

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def weighted(x, w):
    def weigh(v):
        return (v * w).sum()

    out = []
    for k in range(len(x)):
        out.append(weigh(x[k]))
    return torch.stack(out)


def through_another(x, w):
    bias = w.sum()
    shift = lambda v: v * w + bias

    def weigh(v):
        return shift(v).sum()

    out = []
    for k in range(len(x)):
        out.append(weigh(x[k]))
    return torch.stack(out)


def shadowed(x, w):
    bias, factor = w.sum(), 2.0

    def shift(v):
        return v * w + bias

    def scale(w):
        return shift(w) * factor

    def weigh(bias):
        return scale(bias).sum()

    out = []
    for k in range(len(x)):
        out.append(weigh(x[k]))
    return torch.stack(out)


def replaced(x, w):
    shift = lambda v: v * w

    def weigh(v):
        return shift(v).sum()

    first, second = torch.zeros(len(x)), torch.zeros(len(x))
    for k in range(len(x)):
        first[k] = weigh(x[k])
    shift = lambda v: v - w
    for k in range(len(x)):
        second[k] = weigh(x[k])
    return first, second


def changed_in_place(x, w):
    w = w.clone()

    def weigh(v):
        return (v * w).sum()

    out = []
    for k in range(len(x)):
        out.append(weigh(x[k]))
        w[0] += 1
    return torch.stack(out), w


LIFTED = [weighted, through_another, shadowed, replaced]


@pytest.mark.parametrize("function", [*LIFTED, changed_in_place], ids=lambda one: one.__name__)
def test_names_around_inner_functions_are_read(function):
    x, w = torch.rand(5, 3), torch.rand(3)
    lifted = lift(function, verify="off")
    assert not difference(lifted(x, w), function(x, w), magnitude=1.0)
    assert not difference(lifted(x, w + 1), function(x, w + 1), magnitude=1.0)
    if function in LIFTED:
        assert all(loop.decision == "lanes" for loop in lifted.report().loops)


def perhaps_bound(x, count):
    def weigh(v):
        return (v * factor).sum() if count > 0 else v.sum()

    if count > 0:
        factor = 3.0
    out = []
    for k in range(len(x)):
        out.append(weigh(x[k]))
    return torch.stack(out)


def raises_where_unbound(x, count):
    def weigh(v):
        return (v * factor).sum()

    if count > 0:
        factor = 3.0
    out = []
    for k in range(len(x)):
        out.append(weigh(x[k]))
    return torch.stack(out)


@pytest.mark.parametrize("counts", [(1, 0, 1, 0), (0, 1, 0, 1)])
def test_a_name_around_may_not_be_bound(counts):
    x = torch.rand(5, 3)
    lifted, other = lift(perhaps_bound, verify="off"), lift(raises_where_unbound, verify="off")
    for count in counts:
        assert not difference(lifted(x, count), perhaps_bound(x, count), magnitude=1.0)
        if count:
            assert not difference(other(x, count), raises_where_unbound(x, count), magnitude=1.0)
        else:
            with pytest.raises(NameError, match="free variable 'factor'"):
                other(x, count)
