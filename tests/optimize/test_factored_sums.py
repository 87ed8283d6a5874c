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
