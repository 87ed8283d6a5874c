"""Functions of cmath on Python's complex numbers: all digits and errors are Python's, in kernels and in lanes."""

import cmath
import math

import numpy as np
import pytest
import torch

from looplift import lift


def transform(x):
    n = len(x)
    found = np.zeros(n, dtype=np.complex128)
    for k in range(n):
        total = 0j
        for t in range(n):
            total = total + x[t] * cmath.exp(-2j * math.pi * k * t / n)
        found[k] = total
    return found


def steps(x):
    z = 0.5 + 0.1j
    for t in range(len(x)):
        z = cmath.exp(z * 0.1) * 0.5 - z * x[t] * 0.3
    return z


def angles(x):
    found = np.zeros(len(x))
    for k in range(len(x)):
        z = complex(x[k], 0.5 - x[k] * x[k])
        found[k] = cmath.phase(z) + abs(z)
    return found


def round_trips(x):
    found, rest = np.zeros(len(x), dtype=np.complex128), np.zeros(len(x))
    for k in range(len(x)):
        size, angle = cmath.polar(complex(x[k], -1.5))
        found[k] = cmath.rect(size, angle * 0.5)
        rest[k] = cmath.rect(1.0, x[k]).imag
    return found, rest


def from_lists(numbers):
    total = 0j
    for k in range(len(numbers)):
        total = total * 0.5 + cmath.exp(1j * numbers[k])
    return total


def of_reals(x):
    found = []
    for k in range(len(x)):
        found.append(cmath.exp(x[k].item()))
    return found


LOOPS = [transform, steps, angles, round_trips]


def same_bits(found, expected):
    if isinstance(expected, (tuple, list)):
        return len(found) == len(expected) and all(map(same_bits, found, expected))
    return type(found) is type(expected) and np.asarray(found).tobytes() == np.asarray(expected).tobytes()


@pytest.mark.parametrize("backend", ["torch", "native", "auto"])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_of_arrays(loop, backend):
    lifted = lift(loop, backend=backend, verify="off")
    for size in (3, 1, 2, 9, 0):
        x = np.random.default_rng(size).normal(size=size)
        for _ in range(2):
            found, expected = lifted(x), loop(x)
            assert np.shape(found) == np.shape(expected)
            for one, other in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


def test_kernels_give_all_digits():
    lifted = lift(angles, backend="native", verify="off")
    x = np.random.default_rng(0).normal(size=20)
    assert all(same_bits(lifted(x), angles(x)) for _ in range(3))
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


@pytest.mark.parametrize("backend", ["torch", "auto"])
def test_of_lists_and_tensors(backend):
    numbers = [0.1, 2.0, -3.0, 0.0, 1e300]
    lifted = lift(from_lists, backend=backend, verify="off")
    assert all(cmath.isclose(lifted(numbers), from_lists(numbers), rel_tol=1e-13) for _ in range(3))
    x = torch.tensor([0.1, 700.0, -800.0, 0.0], dtype=torch.float64)
    lifted = lift(of_reals, backend=backend, verify="off")
    for found, expected in zip(lifted(x), of_reals(x), strict=True):
        assert type(found) is complex
        assert cmath.isclose(found, expected, rel_tol=1e-13)


@pytest.mark.parametrize("value", [710.0, 709.0, math.inf, math.nan, -math.inf])
def test_large_numbers_and_such_as_are_none(value):
    def exponentials(x):
        found = np.zeros(len(x), dtype=np.complex128)
        for k in range(len(x)):
            found[k] = cmath.exp(complex(x[k], 0.3))
        return found

    lifted = lift(exponentials, verify="off")
    for numbers in ([1.0, 2.0], [1.0, value, 2.0], [value]):
        x = np.array(numbers)
        outcomes = []
        for function in (lifted, exponentials):
            try:
                outcomes.append(function(x).tobytes())
            except (ValueError, OverflowError) as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1]
