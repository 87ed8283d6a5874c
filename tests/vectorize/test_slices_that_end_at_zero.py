"""A slice that ends at 0 is empty: stores into it are none, and what is read of it is nothing."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import outcome

from looplift import lift
from looplift.base.compare import difference


def ones_before_zero(x, k):
    out = torch.zeros(x.shape[0], x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i, i:0] = 1
        out[i, : i % 3] += 2
    return out


def rows_before_zero(x, k):
    out = torch.ones(x.shape[0], x.shape[0] + 1, dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i, i:0] = x[i] * 2
        out[i, i - 2 : 0] -= x[i]
    return out


def boxes_before_zero(x, k):
    out = torch.zeros(x.shape[0], 4, 5, dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i, i:0, 1:] = x[i]
        out[i, 1:3, i:] += x[i]
    return out


def read_before_zero(x, k):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = x[i:0].sum() + x[i - 2 : 0].sum() + x[: k[i]].sum()
    return out


def after_the_bound_of_each(x, k):
    out = torch.zeros(x.shape[0], 6, dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i, k[i] : 0] = 7
        out[i, 0 : k[i]] = x[i]
    return out


FUNCTIONS = [ones_before_zero, rows_before_zero, boxes_before_zero, read_before_zero, after_the_bound_of_each]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_and_gradients(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for count in (5, 1, 3):
        torch.manual_seed(count)
        given = [torch.randn(count, dtype=torch.float64), torch.arange(count) % 3]
        want, got = (outcome(one, given, gradients=True) for one in (function, lifted))
        assert difference(got, want) is None


def ones_of_arrays(n):
    out = np.zeros((n, n))
    for i in range(n):
        out[i, i:0] = 1
        out[i, i - 1 : 0] += 5
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_arrays(backend):
    lifted = lift(ones_of_arrays, backend=backend, verify="off")
    for n in (5, 1, 3):
        np.testing.assert_array_equal(lifted(n), ones_of_arrays(n))
