"""Kernels that hold what a loop stored: arrays that are in one memory, or overlap with themselves."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import looplift


def stored_beside(y, out):
    for t in range(1, y.shape[0]):
        y[t] = y[t - 1] * 0.5 + 1
        out[4] += y[t - 1]
    return y


def two_back(y, x):
    for t in range(2, y.shape[0]):
        y[t] = y[t - 1] * 0.5 + y[t - 2] * 0.25 + x[t]
    return y


def one_place(length, *, numpy):
    if numpy:
        return np.lib.stride_tricks.as_strided(np.ones(1), (length,), (0,))
    return torch.ones(1, dtype=torch.float64).expand(length)


def twice(length, *, numpy):
    base = np.arange(float(length))
    one = base if numpy else torch.from_numpy(base)
    return one, one


def pieces(length, *, numpy):
    base = np.arange(2.0 * length)
    base = base if numpy else torch.from_numpy(base)
    return base[1 : length + 1], base[:length]


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize("numpy", [False, True], ids=["torch", "numpy"])
@pytest.mark.parametrize("function", [stored_beside, two_back])
@pytest.mark.parametrize("made", ["apart", "twice", "pieces", "one"])
def test_like_the_loop(function, numpy, made, backend):
    def arguments(length):
        if made == "one":
            x = np.arange(float(length))
            return one_place(length, numpy=numpy), x if numpy else torch.from_numpy(x)
        if made == "apart":
            return tuple(one.copy() if numpy else one.clone() for one in twice(length, numpy=numpy))
        return (twice if made == "twice" else pieces)(length, numpy=numpy)

    lifted = looplift.lift(function, backend=backend, verify="off")
    for length in (8, 8, 6, 5, 8):
        ends = [run(*arguments(length)) for run in (function, lifted)]
        np.testing.assert_allclose(np.asarray(ends[1]), np.asarray(ends[0]), rtol=1e-12)
