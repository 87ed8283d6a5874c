"""Stores at places of which some count from the end: the last iteration that meets a place has its gradient alone."""

import pytest
import torch
from tests.vectorize.harness import outcome

from looplift import lift
from looplift.base.compare import difference


def from_before_zero(x, mask, k):
    out = torch.zeros_like(x)
    for i in range(-k, x.shape[0]):
        if mask[i + k] > 0:
            out[i] = x[i] * (i + 10)
    return out


def shifted_back(x, mask, k):
    out = torch.zeros_like(x)
    for i in range(x.shape[0] + k):
        if mask[i] > 0:
            out[i - k] = x[i - k] * (i + 10)
    return out


def rows_shifted_back(x, mask, k):
    out = torch.zeros(x.shape[0], 2, dtype=x.dtype)
    for i in range(x.shape[0]):
        if mask[i] > 0:
            out[i - k] = x[i] * x[:2]
    return out


def where_it_is_inside(x, mask, k):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        if i >= k and mask[i] > 0:
            out[i - k] = x[i] * (i + 10)
    return out


def shifted_on(x, mask, k):
    out = torch.zeros(x.shape[0] + 5, dtype=x.dtype)
    for i in range(x.shape[0]):
        if mask[i] > 0:
            out[i + k] = x[i] * (i + 10)
    return out


FUNCTIONS = [from_before_zero, shifted_back, rows_shifted_back, where_it_is_inside, shifted_on]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_and_gradients(function, backend):
    torch.manual_seed(0)
    lifted = lift(function, backend=backend, verify="off")
    for count, k in ((6, 2), (4, 4), (5, 0), (7, 1)):
        for mask in (torch.ones(count + k, dtype=torch.int64), torch.arange(count + k) % 3):
            given = [torch.randn(count, dtype=torch.float64), mask, k]
            want, got = (outcome(one, given, gradients=True) for one in (function, lifted))
            assert difference(got, want) is None


def test_what_is_known_to_go_one_way_is_stored_as_it_is():
    for function in (where_it_is_inside, shifted_on):
        lifted = lift(function, backend="torch", verify="off")
        lifted(torch.randn(6), torch.ones(8, dtype=torch.int64), 2)
        assert "write_last" not in lifted.source, lifted.source
        assert {loop.decision for loop in lifted.report().loops} == {"lanes"}
