"""Sums of complex tensors, whatever they begin with, and Python's complex numbers, in double precision."""

import cmath
import math

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def transform(x):
    n = x.shape[0]
    found = torch.zeros(n, dtype=x.dtype)
    for k in range(n):
        total = 0
        for t in range(n):
            total = total + x[t] * torch.exp(torch.tensor(-2j * math.pi * k * t / n, dtype=x.dtype))
        found[k] = total
    return found


def from_a_float(x):
    total = 0.5
    for t in range(x.shape[0]):
        total = total + x[t] * x[-1]
    return total


def from_a_complex_number(x):
    found = []
    for k in range(x.shape[0]):
        total = 1 - 2j
        for t in range(k + 1):
            total += x[t].abs() * x[k]
        found.append(total)
    return torch.stack(found)


def where_it_is_large(x):
    total = torch.tensor(0j, dtype=x.dtype)
    for t in range(x.shape[0]):
        if x[t].abs() > 0.5:
            total -= x[t].conj()
    return total


def by_parts(x):
    total = 0.0
    for t in range(x.shape[0]):
        if x[t].real > 0:
            total = total + x[t].imag * 2
    return total


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize("loop", [by_parts, transform, from_a_float, from_a_complex_number, where_it_is_large])
def test_totals(loop, dtype):
    calls = [[torch.randn(n, dtype=dtype, generator=torch.Generator().manual_seed(n))] for n in (2, 3, 7, 12)]
    check(loop, *calls, decisions={"lanes"})


def test_a_total_that_decides_keeps_its_order():
    def passed(x):
        total, count = 0j, 0
        for t in range(x.shape[0]):
            total = total + x[t]
            if total.abs() > 1.0:
                count += 1
        return total, count

    check(passed, *[[torch.randn(n, dtype=torch.complex128)] for n in (2, 5, 9)], decisions={"sequential"})


def counted(x):
    return [k * 0.1j for k in range(len(x))]


def of_truth_values(x):
    return [(x[k].item() > 0.5) * 0.1j for k in range(len(x))]


def divided(x):
    return [k / 0.3j for k in range(1, len(x))], [2j / k for k in range(1, len(x))]


def compared(x):
    return [(k == 3j, k != 3 + 0j, abs(k * 1.1j)) for k in range(len(x))]


def stored(x):
    found = torch.zeros(len(x), dtype=torch.complex128)
    for k in range(len(x)):
        found[k] = k * 0.1j + 1 / 3
    return found.tolist()


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("loop", [counted, of_truth_values, divided, compared, stored])
def test_numbers_are_those_of_python(loop, backend):
    lifted = lift(loop, backend=backend, verify="off")
    for size in (5, 2, 30):
        x = torch.rand(size, dtype=torch.float64)
        for found, expected in zip(flat(lifted(x)), flat(loop(x)), strict=True):
            assert type(found) is type(expected)
            assert cmath.isclose(found, expected, rel_tol=1e-15)


def flat(value):
    return [one for item in value for one in flat(item)] if isinstance(value, (list, tuple)) else [value]
