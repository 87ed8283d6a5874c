"""Sums that are factored, of numbers whose products overflow where the factors' sums do not."""

import numpy as np
import pytest
import torch

from looplift import lift


def products_of_sums(a, b):
    s = 0
    for i in range(len(a)):
        for j in range(len(b)):
            s = s + a[i] * b[j]
    return s


def inner_sums(a, b, c):
    s = 0
    for i in range(len(a)):
        for j in range(len(c)):
            s = s + a[i] * b[i, j] * c[j]
    return s


CASES = [
    (products_of_sums, ([1e30, 1.0], [1e30, -1e30])),
    (inner_sums, ([1e20, 1.0], [[1e10, 1.0], [-1e30, 1.0]], [1e30, 1.0])),
    (inner_sums, ([1e30, 1.0], [[1e30, 1.0], [1.0, 1.0]], [1e-30, 1.0])),
]


def tensors(given):
    return [torch.tensor(one) for one in given]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(("function", "given"), CASES)
def test_terms_that_overflow_are_the_loops(function, given, backend):
    lifted = lift(function, backend=backend, verify="off")
    torch.testing.assert_close(lifted(*tensors(given)), function(*tensors(given)), equal_nan=True)
    assert not torch.isfinite(function(*tensors(given))).all()


@pytest.mark.parametrize(("function", "given"), CASES)
def test_others_are_factored(function, given):
    small = [torch.rand(torch.tensor(one).shape) for one in given]
    lifted = lift(function, backend="torch", verify="off")
    torch.testing.assert_close(lifted(*small), function(*small))
    assert "only_finite(" in lifted.source
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


@pytest.mark.filterwarnings("ignore")
def test_terms_of_arrays_that_overflow_are_the_loops():
    a, b = np.array([1e200, 1.0]), np.array([1e200, -1e200])
    lifted = lift(products_of_sums, backend="torch", verify="off")
    np.testing.assert_equal(lifted(a, b), products_of_sums(a, b))
    assert np.isnan(products_of_sums(a, b))


def products_of_row_sums(a, b):
    out = torch.zeros(a.shape[0])
    for r in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(b.shape[0]):
                out[r] = out[r] + a[r, i] * b[j]
    return out


VANISHING = [
    (products_of_sums, ([1e-23] * 50, [-1e-23] * 40)),
    (products_of_sums, ([0.0, 3e-30, 1e-25], [0.0, 2e-20, 1e-15])),
    (inner_sums, ([1e-11] * 40, [[1e-12] * 50] * 40, [1e-23] * 50)),
    (products_of_row_sums, ([[1e-20, 0.0], [1.0, 2.0]], [1e-25, 1e-26, 1e-27])),
]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(("function", "given"), VANISHING)
def test_terms_that_vanish_are_the_loops(function, given, backend):
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        torch.testing.assert_close(lifted(*tensors(given)), function(*tensors(given)), rtol=1e-3, atol=0)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_logarithms_of_terms_that_vanish(backend):
    def logarithm(a, b):
        return torch.log(products_of_sums(a, b))

    lifted = lift(logarithm, backend=backend, verify="off")
    small = torch.full((300,), 1e-23)
    assert lifted(small, small).item() == -float("inf")


ZEROS = [
    (products_of_sums, ([0.0, 0.0], [1.0, 2.0])),
    (products_of_sums, ([1e-30, 1.0, 0.0], [1e-30, 1.0])),
    (products_of_row_sums, ([[0.0, 0.0], [1e-9, 1e-9]], [1e-15, 1e-16, 1e-10])),
]


@pytest.mark.parametrize(("function", "given"), ZEROS)
def test_small_terms_beside_others_are_factored(function, given):
    lifted = lift(function, backend="torch", verify="off")
    for _ in range(2):
        torch.testing.assert_close(lifted(*tensors(given)), function(*tensors(given)))
    assert "least_size(" in lifted.source
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


def test_terms_of_arrays_that_vanish_are_the_loops():
    lifted = lift(products_of_sums, backend="torch", verify="off")
    a, b = np.full(300, 1e-170), np.full(200, 1e-160)
    np.testing.assert_equal(lifted(a, b), products_of_sums(a, b))
    assert products_of_sums(a, b) == 0
    c, d = np.array([1e-170, 0.0, 1.0]), np.array([1e-160, 2.0])
    np.testing.assert_allclose(lifted(c, d), products_of_sums(c, d), rtol=1e-12)
