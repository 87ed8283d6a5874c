"""Powers of Python's integers whose exponents a loop counts."""

import numpy as np
import pytest
import torch

from looplift import lift


def polynomials(x, order):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        for k in range(order):
            out[i] += x[i] * (i - 3) ** k
    return out


def weights(half, order):
    return np.array([[k**i for i in range(order + 1)] for k in range(-half, half + 1)], dtype=float)


def levels(x, base):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] / base**i
    return out


def digits(x, base, count):
    out = torch.zeros(count, len(x), dtype=torch.int64)
    for k in range(count):
        scale = base**k
        for i in range(len(x)):
            out[k, i] = x[i] // scale % base
    return out


def by_data(x, exponents):
    out = torch.zeros(len(x), dtype=torch.int64)
    for i in range(len(x)):
        out[i] = x[i] + 2 ** exponents[i].item()
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("order", [4, 1, 0, 3])
def test_values_and_gradients(order, backend):
    lifted = lift(polynomials, backend=backend)
    for size in (9, 2, 9):
        x = torch.rand(size, dtype=torch.float64, requires_grad=True)
        expected, found = polynomials(x, order), lifted(x, order)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
        if order:
            (wanted,) = torch.autograd.grad(expected.sum(), x)
            (slope,) = torch.autograd.grad(found.sum(), x)
            torch.testing.assert_close(slope, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_tables_of_powers(backend):
    lifted = lift(weights, backend=backend)
    for half, order in ((5, 3), (5, 0), (2, 5), (1, 61), (0, 2), (9, 30)):
        assert np.array_equal(lifted(half, order), weights(half, order))


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_numbers_that_pass_64_bits_are_the_loops(backend):
    lifted, of_digits = lift(levels, backend=backend), lift(digits, backend=backend)
    for base, size in ((3, 9), (-2, 20), (10, 40), (3, 9)):
        x = np.random.rand(size)
        assert np.array_equal(lifted(x, base), levels(x, base))
    for base, count in ((3, 9), (10, 18), (2, 63), (1, 5), (3, 9)):
        x = torch.randint(0, 10**12, (7,))
        assert torch.equal(of_digits(x, base, count), digits(x, base, count))


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_exponents_that_the_data_tells(backend):
    lifted = lift(by_data, backend=backend)
    for _ in range(3):
        x, exponents = torch.randint(0, 9, (7,)), torch.randint(0, 50, (7,))
        assert torch.equal(lifted(x, exponents), by_data(x, exponents))
