"""Choices between values and numbers, by comparing those values with a number: the same bits without a choice."""

from __future__ import annotations

import itertools
import linecache

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift

ODD = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.0, 3.0, float("inf"), float("-inf"), float("nan"), 0.1, 1e-45]


def loop_over(expression):
    text = (
        "def chosen(x):\n    out = torch.zeros_like(x)\n    for i in range(len(x)):\n        v = x[i] * 1\n"
        f"        out[i] = {expression}\n    return out\n"
    )
    label = f"<choice {expression}>"
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    scope = {"torch": torch}
    exec(compile(text, label, "exec"), scope)
    return scope["chosen"]


def same_bits(one, other):
    whole = torch.int64 if one.dtype == torch.float64 else torch.int32
    return torch.equal(torch.isnan(one), torch.isnan(other)) and torch.equal(
        one.nan_to_num(7.0).view(whole), other.nan_to_num(7.0).view(whole)
    )


@pytest.mark.parametrize("relation", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("limit", ["0.0", "-0.0", "1", "0.1"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_each_choice(relation, limit, dtype):
    for number, form in itertools.product({limit, "0.0", "0.5"}, ("v {r} {l}", "{l} {r} v")):
        condition = form.format(r=relation, l=limit)
        for expression in (f"v if {condition} else {number}", f"{number} if {condition} else v"):
            function = loop_over(expression)
            lifted = lift(function, verify="off", backend="torch")
            for size in (len(ODD), 1, 2, 0, 9 * len(ODD)):
                x = torch.tensor((ODD * 9)[:size], dtype=dtype)
                wanted, got = function(x), lifted(x)
                assert same_bits(got, wanted), f"{expression}: {got} instead of {wanted}\n{lifted.source}"


@pytest.mark.parametrize("relation", ["<", "<=", ">", ">="])
def test_gradients_of_each_choice(relation):
    for expression in (f"v if v {relation} 1.0 else 1.0", f"0.5 if v {relation} 1.0 else v"):
        x = torch.tensor([number for number in ODD if number == number and abs(number) < 10], dtype=torch.float64)
        check(loop_over(expression), [x])


def clipped(x, low, out):
    for i in range(len(x)):
        v = x[i] - low[i]
        if v > 1.0:
            v = 1.0
        elif v < -1:
            v = -1
        out[i] = v
    return out


def crossed(x, low, out):
    for i in range(len(x)):
        v = x[i] - low[i]
        out[i] = 1.0 if v < 1.0 else (-1.0 if v > -1.0 else v)
    return out


def within(x, low, out):
    for i in range(len(x)):
        out[i] = min(max(x[i] - low[i], -1.0), 1.0) + max(0.0, low[i])
    return out


def met(x, low, out):
    for i in range(len(x)):
        v = x[i] - low[i]
        out[i] = 5.0 if v <= 1.0 else (1.0 if v >= 1.0 else v)
    return out


@pytest.mark.parametrize("function", [clipped, crossed, met, within])
def test_limits_on_both_sides(function):
    x = torch.tensor(ODD * 3)
    low = torch.zeros_like(x)
    lifted = lift(function, verify="off", backend="torch")
    assert same_bits(lifted(x, low, torch.zeros_like(x)), function(x, low, torch.zeros_like(x)))


def hinge(x, y):
    total = torch.zeros(())
    for i in range(len(x)):
        missing = 1 - x[i] * y[i]
        if missing > 0:
            total = total + missing
    return total


def test_no_choice_is_left():
    for function, wanted in ((clipped, ".clamp("), (within, ".clamp(min=-1.0)")):
        lifted = lift(function, verify="off", backend="torch")
        lifted(torch.randn(9), torch.randn(9), torch.zeros(9))
        assert wanted in lifted.source
    lifted = lift(hinge, verify="off", backend="torch")
    lifted(torch.randn(9), torch.randn(9))
    assert "threshold_(" in lifted.source and "where" not in lifted.source
    check(hinge, [torch.randn(9), torch.randn(9)])
