"""Python numbers in lanes where a tensor's arithmetic would differ: large integers, powers, signs of zero, bounds."""

from __future__ import annotations

import math

import pytest
import torch
from tests.vectorize.harness import appended

from looplift import lift

INFINITE = float("inf")


def same(expression, count, *calls, decision="lanes"):
    """Each call gives what the loop gives, types included; the first one is lifted."""
    function = appended(expression, count, {"math": math, "torch": torch}, join="list")
    lifted = lift(function, verify="off", backend="torch")
    for number, (x, a) in enumerate(calls):
        got, wanted = lifted(x, a, None), function(x, a, None)
        assert list(map(str, got)) == list(map(str, wanted)), expression
        if not number:
            assert [loop.decision for loop in lifted.report().loops] == [decision]


@pytest.mark.parametrize(
    "expression", ["i + a", "(i + 3) - a", "(i + a) * 2", "(a if i % 2 else i) + i", "(i + a) / 3", "(i * 5 + i) ^ a"]
)
def test_integers_given_from_outside_may_be_large(expression):
    same(expression, "4", *((None, a) for a in (3, -7, 2**62, 2**63 - 2, 2**70, -(2**63))))


def test_ranges_may_begin_at_large_integers():
    def counted(n, start):
        out = []
        for i in range(start, start + n):
            out.append(i * 4)
        return out

    def running(n, start):
        total, out = start, []
        for i in range(n):
            total = total + i
            out.append(total)
        return out

    for function in (counted, running):
        lifted = lift(function, verify="off", backend="torch")
        for start in (5, 2**62, 2**63 - 2, -(2**63)):
            assert lifted(6, start) == function(6, start)


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc"])
def test_whole_numbers_stay_as_they_are(name):
    same(f"math.{name}(x[i].item())", "len(x)", (torch.tensor([2**60 + 1, 3, -5]), None))


def test_quotients_of_large_integers():
    same("x[i].item() / 3", "len(x)", (torch.tensor([7, 3]), None), (torch.tensor([2**54 + 1, 3]), None))


def test_powers_of_integers_are_floats_where_the_exponent_is_negative():
    same("2 ** (i - a)", "4", (None, 9), (None, 1), (None, 4))


def test_remainders_have_the_sign_of_the_divisor():
    values = torch.tensor([-4.0, 4.0, -3.0, 1.5, -0.0], dtype=torch.float64)
    for divisor in ("2.0", "-2.0", "a"):
        same(f"math.copysign(1.0, x[i].item() % {divisor})", "len(x)", (values, 2.0), (values, -1.5))


def test_exponents_that_differ_by_iteration():
    values = torch.tensor([2.0, 3.0, 0.25, 1.0])
    edges = torch.tensor([-INFINITE, -0.0, -1.0, 4.0])
    same("x[i] ** a[i]", "len(a)", (values, [0.5, 2.0, -0.5]), (edges, [0.5, 0.5, 2.0]), (edges, [-0.5, -0.5, 2.0]))

    def powers(x, first):
        return [x[i] ** (first - i) for i in range(len(x))]

    lifted = lift(powers, verify="off")
    whole = torch.tensor([1, 2, 3])
    assert lifted(whole, 2) == powers(whole, 2)
    with pytest.raises(RuntimeError, match="negative integer powers"):
        lifted(whole, 1)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.float32, torch.float64])
@pytest.mark.parametrize("call", ["x[i].clamp(min=i - 2)", "torch.clamp(x[i], max=i)", "torch.mul(x[i], other=i + 1)"])
def test_named_operands_are_numbers(call, dtype):
    same(call, "len(x)", (torch.arange(5).to(dtype), None))
