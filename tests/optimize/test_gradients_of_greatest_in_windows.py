"""The greatest of each window: ``amax`` and ``max()`` have gradients of their own where values or gradients are not
finite."""

import pytest
import torch

from looplift import lift


def greatest(x):
    out = torch.zeros(x.shape[0] // 3, x.shape[1] // 2)
    for i in range(x.shape[0] // 3):
        for j in range(x.shape[1] // 2):
            out[i, j] = torch.max(x[3 * i : 3 * i + 3, 2 * j : 2 * j + 2])
    return out


def greatest_by_dimensions(x):
    out = torch.zeros(x.shape[0] // 3, x.shape[1] // 2)
    for i in range(x.shape[0] // 3):
        for j in range(x.shape[1] // 2):
            out[i, j] = x[3 * i : 3 * i + 3, 2 * j : 2 * j + 2].amax(dim=(0, 1))
    return out


def greatest_in_overlapping_windows(x):
    out = torch.zeros(x.shape[0] - 2, x.shape[1] - 1)
    for i in range(x.shape[0] - 2):
        for j in range(x.shape[1] - 1):
            out[i, j] = x[i : i + 3, j : j + 2].max()
    return out


def amax_in_overlapping_windows(x):
    out = torch.zeros(x.shape[0] - 2, x.shape[1] - 1)
    for i in range(x.shape[0] - 2):
        for j in range(x.shape[1] - 1):
            out[i, j] = torch.amax(x[i : i + 3, j : j + 2])
    return out


FUNCTIONS = [greatest, greatest_by_dimensions, greatest_in_overlapping_windows, amax_in_overlapping_windows]


def values(*, nan):
    x = torch.randint(0, 3, (9, 8), generator=torch.Generator().manual_seed(3)).float()
    if nan:
        x[1, 1] = x[4, 4] = x[5, 5] = float("nan")
    return x.requires_grad_()


def gradient(function, nan, scale):
    x = values(nan=nan)
    found = function(x)
    weights = torch.arange(1.0, 1 + found.numel()).reshape(found.shape)
    torch.nansum(found * weights).mul(scale).backward()
    return found, x.grad


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("scale", [1.0, float("inf"), float("nan")])
@pytest.mark.parametrize("nan", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_gradients_are_the_loops(function, nan, scale, backend):
    lifted = lift(function, backend=backend, verify="off")
    for got, want in zip(gradient(lifted, nan, scale), gradient(function, nan, scale), strict=True):
        torch.testing.assert_close(got, want, equal_nan=True)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_windows_are_pooled(function):
    lifted = lift(function, backend="torch", verify="off")
    torch.testing.assert_close(lifted(values(nan=False)), function(values(nan=False)))
    assert "pooled(" in lifted.source
