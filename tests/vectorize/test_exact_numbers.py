"""Python numbers in lanes where a tensor's arithmetic would differ: large integers, powers, signs of zero, bounds."""

from __future__ import annotations

import math

import numpy as np
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


def outcome(function, *arguments):
    """What a call gives, or the type and the text of what it raises."""
    try:
        return str(function(*arguments))
    except (RuntimeError, OverflowError, ValueError) as error:
        return type(error).__name__, str(error)


def listed_tensor(n, k):
    out = []
    for i in range(n):
        out.append(i * k)
    return torch.tensor(out, dtype=torch.uint8)


def listed_array(n, k):
    out = []
    for i in range(n):
        out.append(i * k)
    return np.array(out, dtype=np.int32)


def tensors(n, k):
    out = []
    for i in range(n):
        out.append(torch.tensor(i * k, dtype=torch.uint8))
    return torch.stack(out)


def pairs(n, k):
    out = []
    for i in range(n):
        out.append(torch.tensor([i * k, 1], dtype=torch.int32))
    return torch.stack(out)


def arrays(n, k):
    out = []
    for i in range(n):
        out.append(np.array([i * k, 1], dtype=np.uint8))
    return np.stack(out)


@pytest.mark.parametrize("backend", ["torch", "native"])
@pytest.mark.parametrize("function", [listed_tensor, listed_array, tensors, pairs, arrays])
def test_numbers_must_fit_the_integers_of_a_new_array(function, backend):
    for numbers in ((1, 100, 127.5, 200, -1, 2**31), (1.5, 100.5, 127.7, -0.5, 2.0**40, INFINITE)):
        lifted = lift(function, verify="off", backend=backend)
        for k in numbers:
            assert outcome(lifted, 3, k) == outcome(function, 3, k), (k, lifted.source)


@pytest.mark.parametrize("call", ["torch.where(x[i] > 1, x[i], i * k)", "torch.clamp(x[i], max=i * k)", "x[i] + i * k"])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.float32])
def test_numbers_beside_elements_that_cannot_hold_them(call, dtype):
    function = appended(call.replace("k", "a"), "len(x)", {"torch": torch}, join="list")
    x = torch.arange(3).to(dtype)
    numbers = (1.5, 1e39, INFINITE, -1e39) if dtype.is_floating_point else (1, 100, 300, -1, 2**40)
    lifted = lift(function, verify="off", backend="torch")
    for k in numbers:
        assert outcome(lifted, x, k, None) == outcome(function, x, k, None), k


def test_numbers_beside_elements_of_numpy_arrays_that_cannot_hold_them():
    for call in ("x + i * a", "x < i * a", "np.maximum(x, i * a)", "np.where(x > 1, x, i * a)"):
        function = appended(call, "len(x)", {"np": np}, join="np.stack")
        lifted = lift(function, verify="off", backend="torch")
        for k in (1, 100, 300, -1):
            x = np.arange(3, dtype=np.uint8)
            assert outcome(lifted, x, k, None) == outcome(function, x, k, None), (call, k)
