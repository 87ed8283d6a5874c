"""The limits of dtypes inside of loops are numbers that are known before them."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def masked_scores(x, k):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = torch.softmax(x[i].masked_fill(k[i], torch.finfo(x.dtype).min), 0)
    return out


def of_parts(x, k):
    out = torch.zeros(len(x))
    for i, row in enumerate(x):
        eps = torch.finfo(row.dtype).eps
        out[i] = (row / (row.abs() + eps)).sum() + torch.finfo(x[i, 0].dtype).tiny * k[i, 0]
    return out


def least_other(x, k):
    out = np.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        best = np.iinfo(np.int64).max
        for j in range(len(x)):
            if i != j and x[j] < best:
                best = x[j]
        out[i] = best + k
    return out


def logarithms(x, k):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.log(x[i] + np.finfo(float).eps) + np.finfo(x.dtype).resolution * k
    return out


@pytest.mark.parametrize("loop", [masked_scores, of_parts])
def test_limits_of_types_of_tensors(loop):
    x, k = torch.randn(6, 5), torch.rand(6, 5) > 0.5
    check(loop, [x, k])
    check(loop, [x.double(), k])


def test_limits_of_types_of_arrays():
    check(logarithms, [np.random.default_rng(0).random(6), 2], gradients=False)
    x = np.arange(7)[::-1].copy()
    lifted = lift(least_other, backend="native")
    assert (lifted(x, 1) == least_other(x, 1)).all()
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_one_function_for_arguments_of_two_types():
    lifted = lift(masked_scores)
    for dtype in (torch.float32, torch.float64, torch.float16):
        x = torch.randn(4, 5).to(dtype)
        assert torch.allclose(lifted(x, x > 0), masked_scores(x, x > 0))


def test_limits_that_there_are_not_raise_as_in_the_loop():
    def no_limits(x):
        return [torch.finfo(x.dtype).max + row.sum() for row in x]

    with pytest.raises(TypeError) as wanted:
        no_limits(torch.ones(3, 2, dtype=torch.int64))
    with pytest.raises(TypeError) as given:
        lift(no_limits)(torch.ones(3, 2, dtype=torch.int64))
    assert str(given.value) == str(wanted.value)
