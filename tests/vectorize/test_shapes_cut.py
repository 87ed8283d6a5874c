"""Slices of shapes in loops: ``x.shape[1:]`` is known item by item."""

import numpy as np
import pytest
import torch

from looplift import lift


def pooled(x):
    out = torch.zeros(len(x), *x.shape[2:], dtype=x.dtype)
    for i in range(len(x)):
        total = torch.zeros(x.shape[2:], dtype=x.dtype)
        for j in range(x.shape[1]):
            total = total + x[i, j]
        out[i] = total / x.shape[1:][0]
    return out


def of_numpy(x):
    out = np.zeros_like(x)
    for i in range(len(x)):
        filled = np.ones(x.shape[-1:])
        for j in range(x.shape[1]):
            filled = filled * 0.5 + x[i, j]
            out[i, j] = filled
    return out


def counted(x):
    out = []
    for i in range(len(x)):
        count = 1
        for extent in x.shape[1:]:
            count = count * extent
        out.append(x[i].sum() / count)
    return torch.stack(out)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", [pooled, counted])
def test_values_and_gradients(function, backend):
    lifted = lift(function, backend=backend)
    for shape in ((6, 3, 4), (2, 5, 4), (6, 3, 1), (6, 3, 4)):
        x = torch.rand(*shape, dtype=torch.float64, requires_grad=True)
        expected, found = function(x), lifted(x)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-13)
        (wanted,) = torch.autograd.grad(expected.square().sum(), x)
        (slope,) = torch.autograd.grad(found.square().sum(), x)
        torch.testing.assert_close(slope, wanted, rtol=1e-12, atol=1e-13)
    assert function is counted or lifted.report().loops[0].decision == "lanes"


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_arrays_of_numpy(backend):
    lifted = lift(of_numpy, backend=backend)
    for shape in ((6, 3, 4), (2, 5, 4), (6, 3, 4)):
        x = np.random.rand(*shape)
        assert np.allclose(lifted(x), of_numpy(x), rtol=1e-14, atol=0)
