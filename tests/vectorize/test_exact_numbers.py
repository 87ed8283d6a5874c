"""Python numbers in lanes where a tensor's arithmetic would differ: large integers, powers, signs of zero, bounds."""

from __future__ import annotations

import linecache
import math
import warnings

import numpy as np
import pytest
import torch
from tests.vectorize.harness import appended

from looplift import lift

INFINITE = float("inf")


def same(expression, count, *calls, decision: str | None = "lanes"):
    """Each call gives what the loop gives, types included; the first one is lifted."""
    function = appended(expression, count, {"math": math, "torch": torch}, join="list")
    lifted = lift(function, verify="off", backend="torch")
    for number, (x, a) in enumerate(calls):
        got, wanted = lifted(x, a, None), function(x, a, None)
        assert list(map(str, got)) == list(map(str, wanted)), expression
        if not number and decision:
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


def differences(x, places, near):
    total, whole, last, row = torch.tensor(0), torch.zeros(3), torch.tensor(0), torch.zeros(len(x))
    sums, cuts, out = torch.zeros(3, 2), torch.zeros(6), []
    for i in range(len(x)):
        total = total - x[i, 0]
    for i in range(len(x)):
        last = last - x[i, 0]
        out.append(last)
    for i in range(len(x)):
        whole[places[i]] -= x[i, 0]
    for i in range(len(x)):
        row[0] -= x[i, 0]
    for i in range(len(near)):
        for j in near[i]:
            sums[i] -= x[j]
    for i in range(len(places)):
        cuts[: places[i]] -= x[: places[i], 0]
    return total, whole, row, sums, cuts, out


def array_differences(x, places):
    total, whole = np.int64(0), np.zeros(3)
    for i in range(len(x)):
        total = total - x[i]
    for i in range(len(x)):
        whole[places[i]] -= x[i]
    return total, whole


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_small_integers_are_taken_from_wider_values(dtype):
    x, places, near = torch.arange(8).reshape(4, 2).to(getattr(torch, dtype)), [0, 1, 0, 2], [[0, 1], [], [2]]
    if dtype == "int8":
        x[0] = -128
    lifted = lift(differences, verify="off", backend="torch")
    assert str(lifted(x, places, near)) == str(differences(x, places, near))
    assert {loop.decision for loop in lifted.report().loops} == {"lanes", "scan"}
    lifted = lift(array_differences, verify="off", backend="torch")
    assert str(lifted(x[:, 0].numpy(), places)) == str(array_differences(x[:, 0].numpy(), places))


def test_recurrences_are_computed_in_the_type_of_the_carried_value():
    def recurrence(x, y):
        h, out = torch.tensor(0.3, dtype=torch.float64), []
        for i in range(len(x)):
            h = h * x[i] * y[i] + x[i]
            out.append(h)
        return torch.stack(out)

    generator = torch.Generator().manual_seed(5)
    x, y = torch.rand(50, generator=generator), 2 * torch.rand(50, generator=generator)
    lifted = lift(recurrence, verify="off", backend="torch")
    torch.testing.assert_close(lifted(x, y), recurrence(x, y), rtol=1e-13, atol=1e-13)
    assert [loop.decision for loop in lifted.report().loops] == ["scan"]


def test_finding_out_the_types_of_values_warns_of_nothing():
    def inverses(x):
        out = np.zeros(len(x))
        for i in range(len(x)):
            if x[i] != 0:
                out[i] = 1.0 / x[i]
        return out

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(lift(inverses, verify="off")(np.array([0.0, 2.0]))) == [0.0, 0.5]


@pytest.mark.parametrize("call", ["* 0.1", "- i", "** 2", "/ (1 + i)", "+ (i > 1)"])
def test_complex_numbers_stay_complex(call):
    for call in (f"x[i].item() {call}", "2.0 ** x[i].item()"):
        function = appended(call, "len(x)", {}, join="list")
        x = torch.tensor([1 + 2j, -0.5j, 2 + 0j])
        got, wanted = lift(function, verify="off", backend="torch")(x, None, None), function(x, None, None)
        assert list(map(type, got)) == list(map(type, wanted))
        np.testing.assert_allclose(got, wanted, rtol=1e-14)


def test_powers_of_numpy_booleans_have_the_type_of_the_loop():
    for call in ("x[i, 0] ** 2", "x[i] ** 1", "x[i] ** a[i]"):
        function = appended(call, "len(x)", {}, join="list")
        x = np.array([[True, False], [False, True]])
        got, wanted = lift(function, verify="off", backend="torch")(x, [1, 2], None), function(x, [1, 2], None)
        assert [(v.dtype, v.tolist()) for v in got] == [(v.dtype, v.tolist()) for v in wanted]


def counted(x):
    total = 0
    for i in range(len(x)):
        if x[i] > 0:
            total = total + 1
    return total


def refused(x):
    return [not x[i] for i in range(len(x))]


@pytest.mark.parametrize("function", [counted, refused])
def test_rows_of_several_elements_have_no_truth_value(function):
    lifted = lift(function, verify="off", backend="torch")
    for columns in (1, 3, 0, 2):
        x = torch.arange(3.0 * columns).reshape(3, columns)
        assert outcome(lifted, x) == outcome(function, x), columns


def test_truth_values_that_become_tensors_are_handed_out_as_such():
    def joined(x):
        some, last = True, False
        for i in range(len(x)):
            some = some * (x[i] > 0)
        for i in range(len(x)):
            last = x[i] > 0
        return some, last

    for backend in ("torch", "auto"):
        lifted = lift(joined, verify="off", backend=backend)
        for x in (torch.ones(3), torch.arange(3.0), torch.ones(0)):
            assert str(lifted(x)) == str(joined(x))


@pytest.mark.parametrize("update", ["s * 2", "s + i", "s - x[i, 0]", "s + 0.5 * x[i]", "s * x[i, 0]"])
def test_rows_that_numbers_are_added_to_in_each_lane(update):
    function = appended("total(x, a, i)", "len(x)", {"total": rows_with(update)}, join="torch.stack")
    function.__globals__["torch"] = torch
    x = torch.tensor([[1.5, -2.0, 0.5], [3.0, 0.25, -1.0], [2.0, 5.0, 1.0]], dtype=torch.float64)
    lifted = lift(function, verify="off", backend="torch")
    torch.testing.assert_close(lifted(x, None, None), function(x, None, None))


def rows_with(update):
    label = f"<rows with {update}>"
    text = f"def total(x, a, n):\n    s = x[0]\n    for i in range(n):\n        s = {update}\n    return s\n"
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    scope = {}
    exec(compile(text, label, "exec"), scope)
    return scope["total"]


@pytest.mark.parametrize("expression", ["-x[i].item()", "abs(int(x[i]))", "int(x[i]) // a", "-(-x[i].item())"])
def test_the_least_integer_has_no_opposite_in_64_bits(expression):
    same(expression, "len(x)", (torch.tensor([7, -3]), -1), (torch.tensor([-(2**63), 3]), -1))
    same(expression, "len(x)", (np.array([7, -3]), -1), (np.array([-(2**63), 3]), -1))


@pytest.mark.parametrize("expression", ["int(x[i])", "x[i].item() + 1", "x[i].item() > a", "float(x[i])", "bool(x[i])"])
def test_integers_without_a_sign_may_be_large(expression):
    same(expression, "len(x)", (np.array([7, 3], np.uint64), 5), (np.array([2**63, 2**64 - 1, 0], np.uint64), 5))


@pytest.mark.parametrize(
    "comparison", ["x[i].item() < a", "x[i].item() == a", "a <= x[i].item()", "x[i].item() > 2**53 + 1"]
)
def test_floats_are_compared_with_integers_as_they_are(comparison):
    values = torch.tensor([2.0**53, 1.0, float("inf"), float("nan")], dtype=torch.float64)
    same(comparison, "len(x)", *((values, a) for a in (7, 2**53 + 1, 2**53, -(2**53) - 1, 2**70)), decision=None)
