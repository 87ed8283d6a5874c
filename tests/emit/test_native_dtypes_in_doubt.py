"""Kernels: the types of results where operands are of one type or of another."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from looplift import lift


def sums_beside(x, scale, k):
    t = 1.0
    for row in x:
        t = row[0]
    return t + sum(scale for _ in range(k))


def several(x, scale, k):
    t, u = 1.0, 0
    for row in x:
        t = row[0]
    for _ in range(k):
        u = u + scale
    return t * u, t - u, u - t, t / (u + 1.0), t < u, t == u, u * u, t**2


@pytest.mark.parametrize("loop", [sums_beside, several])
@pytest.mark.parametrize("rows", [0, 3])
@pytest.mark.parametrize("k", [0, 2])
def test_numbers_of_numpy_and_of_python_beside_integers_or_floats(loop, rows, k):
    lifted = lift(loop, verify="off", backend="native")
    for _ in range(2):
        wanted, found = (one(np.ones((rows, 2)), 1.5, k) for one in (loop, lifted))
        assert found == wanted
        pairs = zip(found, wanted) if isinstance(wanted, tuple) else [(found, wanted)]
        assert all(type(a) is type(b) for a, b in pairs)


def scaled_by_counts(x):
    s = 1.0
    for i in range(x.shape[1]):
        for j in range(0, x.shape[0] - 1, 3):
            s *= x[j, i]
        s *= (x > 0).sum()
    return s


@pytest.mark.parametrize("rows", [1, 4])
def test_a_count_of_truths_is_an_integer(rows):
    x = torch.rand(rows, 3, dtype=torch.float64)
    wanted, found = scaled_by_counts(x), lift(scaled_by_counts, verify="off", backend="native")(x)
    assert found.dtype is wanted.dtype
    torch.testing.assert_close(found, wanted)


def mean_of_truths(x):
    s = torch.zeros(())
    for i in range(len(x)):
        s = s + (x[i] != 0).mean()
    return s


def test_a_mean_of_truths_raises_as_in_the_loop():
    with pytest.raises(RuntimeError, match="mean"):
        lift(mean_of_truths, backend="native")(torch.randn(3, 2))
