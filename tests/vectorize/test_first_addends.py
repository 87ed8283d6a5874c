"""Sums that begin as numbers, of terms of several types: a tensor that is added to in place keeps its type."""

import pytest
import torch

from looplift import lift


def mean_where(x, mask):
    loss = 0.0
    for i in range(len(x)):
        if mask[i]:
            loss = loss + x[i]
    return loss / mask.sum()


def changed_mean_where(x, mask):
    loss = 0.0
    for i in range(len(x)):
        if mask[i]:
            loss += x[i]
    loss /= mask.sum()
    return loss


def summed_with_counts(x, mask):
    loss = 0.0
    for i in range(len(x)):
        if mask[i]:
            loss = loss + x[i]
        loss = loss + mask[i].long()
    return loss


def running_means(x, mask):
    out, loss = torch.zeros(len(x), dtype=x.dtype), 0.0
    for i in range(len(x)):
        if mask[i]:
            loss = loss + x[i]
        out[i] = loss / mask.sum()
    return out


def changed_with_counts(x, mask):
    loss = 0.0
    for i in range(len(x)):
        if mask[i]:
            loss += x[i]
        loss += mask[i].long()
    return loss


LIFTED = (mean_where, changed_mean_where, summed_with_counts, running_means)


@pytest.mark.parametrize("function", (*LIFTED, changed_with_counts), ids=lambda one: one.__name__)
@pytest.mark.parametrize("backend", ["torch", "auto"])
def test_the_type_is_that_of_the_loop(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for seed in range(6):
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(6, dtype=torch.float64, generator=generator)
        mask = torch.rand(6, generator=generator) > (0.5, 0.5, 2.0, 0.5, 0.9, 0.5)[seed]
        found, wanted = lifted(x, mask), function(x, mask)
        assert found.dtype == wanted.dtype
        torch.testing.assert_close(found, wanted, equal_nan=True)
    is_kept = all(loop.decision == "kept" for loop in lifted.report().loops)
    assert is_kept == (function not in LIFTED)
