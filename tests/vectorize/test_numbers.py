"""Functions of `math` and lists of Python numbers: what they give for NumPy's numbers and for elements of tensors."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import torch
from tests.vectorize.harness import appended, check, outcome

from looplift import lift

FUNCTIONS = "sin tan exp log sqrt atan floor ceil fabs log1p expm1 sinh tanh degrees isnan"
DTYPES = "uint8 int16 int64 float16 float32 float64 bool"


@pytest.mark.parametrize("library", ["np", "torch"])
@pytest.mark.parametrize("dtype", DTYPES.split())
@pytest.mark.parametrize("name", FUNCTIONS.split())
def test_functions_of_math_compute_in_double_precision(name, dtype, library):
    words = "bool_" if (library, dtype) == ("np", "bool") else dtype
    make = torch.tensor if library == "torch" else np.array
    values = [1.5, 2.25, 3.0] if dtype.startswith("float") else [1, 1, 1] if dtype == "bool" else [1, 2, 3]
    x = make(values, dtype=getattr({"np": np, "torch": torch}[library], words))
    for operand in ("x[i]", "x[i].item()"):
        function = appended(f"math.{name}({operand})", "len(x)", {"math": math}, join="list")
        got, wanted = lift(function, verify="off", backend="torch")(x, None, None), function(x, None, None)
        assert [type(v) for v in got] == [type(v) for v in wanted]
        np.testing.assert_allclose(got, wanted, rtol=1e-14)


@pytest.mark.parametrize("expression", ["x[i] * a[i]", "np.exp(a[i])", "np.sqrt(a[i]) * x", "x[int(a[i])] * 2"])
def test_lists_of_numbers_beside_arrays(expression):
    function = appended(expression, "len(a)", {"np": np}, join="list")
    check(function, [np.arange(4.0), [0.5, 1.0, 2.0, 3.0], None], [np.arange(4.0), [1.5], None], gradients=False)


def test_lists_of_lists_of_numbers_beside_arrays():
    def neighbours(x, near, total):
        for i in range(len(near)):
            for j in near[i]:
                total[i] += np.sqrt(x[j] * j)
        return total

    check(neighbours, [np.arange(4.0), [[0], [1, 2], [], [3]], np.zeros(4)], gradients=False)


def test_a_list_that_a_list_of_numbers_chooses_from():
    def chosen(f, n):
        out = []
        for i in range(n):
            if f[i] > 1.0:
                out.append(np.full((2,), 0.5))
        return out

    lifted = lift(chosen, verify="off")
    for values in ([0.5], [2.0], [0.5, 3.0, 2.0]):
        arguments = [values, len(values)]
        got, wanted = outcome(lifted, arguments, gradients=False), outcome(chosen, arguments, gradients=False)
        assert str(got) == str(wanted)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int16", "int8", "bool", "float32"])
def test_totals_of_narrow_numbers_keep_their_type(dtype):
    def totals(x):
        total, product, row = 0, 1, x[0] * 1
        for i in range(len(x)):
            total = total + x[i].max()
            product = product * x[i, 0]
            row = row + x[i]
        return total, product, row

    x = np.array([[1, 0], [1, 1], [0, 1]]).astype(dtype)
    got, wanted = lift(totals, verify="off")(x), totals(x)
    assert [(type(v), v.dtype, v.tolist()) for v in got] == [(type(v), v.dtype, v.tolist()) for v in wanted]


def test_arrays_without_dimensions_stay_arrays():
    function = appended("np.ones_like(x[i, 0])", "len(x)", {"np": np}, join="list")
    check(function, [np.arange(6.0).reshape(3, 2), None, None], gradients=False)


@pytest.mark.parametrize("first", [3, 2**20, 2**30, 2**61, -(2**62)])
def test_sums_of_integers_beyond_64_bits(first):
    def squares(first, x):
        total, cubes = 0, 0
        for i in range(len(x)):
            number = first + i
            x[i] = x[i] * 2
            total = total + number * number
            cubes += number**3
        return total, cubes

    def items(numbers, x):
        total = 0
        for i in range(len(x)):
            x[i] = x[i] * 2
            if x[i] > 0:
                total += numbers[i]
        return total

    x = torch.arange(-20.0, 40.0)
    assert lift(squares, backend="torch", verify="off")(first, x.clone()) == squares(first, x.clone())
    numbers = [first] * 60
    assert lift(items, backend="torch", verify="off")(numbers, x.clone()) == items(numbers, x.clone())


def test_powers_of_small_integers_are_lanes():
    def weighted(x, radius):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            for d in range(-radius, radius + 1):
                out[i] += math.exp(-(d**2) / 4) * x[min(max(i + d, 0), len(x) - 1)]
        return out

    check(weighted, [torch.randn(7, dtype=torch.float64), 2], [torch.randn(5, dtype=torch.float64), 1])


def test_integers_beside_floats_compute_in_double_precision():
    def table(x, k):
        out, either, above, whole = [], [], [], []
        for j in range(k):
            out.append(j * 0.1)
            either.append(0.3 + j if j % 2 else 0.7 - j * 0.7)
            above.append(j * 0.1 > 0.3)
            whole.append(j + 2**24 > 2.0**24 + (j > 1) * 0.5)
        return out, either, above, whole, x

    x = torch.zeros(2)
    lifted = lift(table, backend="torch", verify="off")
    assert lifted(x, 7) == table(x, 7) == lift(table, verify="off")(x, 7)
    assert lifted.report().loops[0].decision == "lanes"


@pytest.mark.parametrize("backend", ["torch", "auto", "native"])
def test_branches_that_no_iteration_takes_warn_of_nothing(backend):
    def logarithms(x, out):
        for i in range(len(x)):
            if x[i] > 0:
                out[i] = np.log(x[i]) + 1 / x[i] + np.sqrt(x[i])
        return out

    lifted = lift(logarithms, backend=backend, verify="off")
    x = np.array([-1.0, 0.0, 2.0, -np.inf])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            assert np.array_equal(lifted(x, np.zeros(4)), logarithms(x, np.zeros(4)))


def test_the_greater_of_an_integer_and_a_float_is_summed_as_a_float():
    def greater(m, a, b):
        total = 0.0
        for _ in range(m):
            total += max(a, b)
        return total

    def of_each(m, a, b):
        total = 0.0
        for k in range(m):
            total += min(k, a) * 2 + max(k, 0.5)
        return total

    for function in (greater, of_each):
        for backend in ("torch", "native"):
            lifted = lift(function, verify="off", backend=backend)
            for m in (3, 1, 0):
                for a, b in ((0.25, 3), (3, 0.25), (2, 3), (2**60 + 1, 0.5)):
                    assert repr(lifted(m, a, b)) == repr(function(m, a, b))


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_numbers_of_a_list_have_no_gradient(backend):
    def best_two(x):
        first, second = torch.zeros(len(x)), torch.zeros(len(x))
        for i in range(len(x)):
            best = next_best = -1e9
            for v in x[i].tolist():
                if v > best:
                    next_best, best = best, v
                elif v > next_best:
                    next_best = v
            first[i], second[i] = best, next_best
        return first, second

    lifted = lift(best_two, backend=backend)
    for size in (1, 2, 7):
        x = torch.randn(4, size, requires_grad=True)
        for found, wanted in zip(lifted(x), best_two(x), strict=True):
            assert torch.equal(found, wanted) and not found.requires_grad
    assert all(loop.code != "verification" for loop in lifted.report().loops)
