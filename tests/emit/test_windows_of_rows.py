"""Kernels over windows of rows, and the variances of what is in them: values and gradients are the loop's."""

import warnings

import pytest
import torch

from looplift import lift

double = torch.float64


def windows(x, y, width):
    out = torch.zeros(x.shape[0] - width + 1, dtype=x.dtype)
    for i in range(x.shape[0] - width + 1):
        a, b = x[i : i + width], y[i : i + width]
        out[i] = ((a - a.mean()) * (b - b.mean())).sum() / (a.std() * b.std() + 0.1)
    return out


def borders(x, reach):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            near = x[max(i - reach, 0) : i + reach + 1, max(j - reach, 0) : j + reach + 1]
            out[i, j] = (torch.exp(-((near - x[i, j]) ** 2)) * near).sum() / near.var(unbiased=False).add(0.5)
    return out


def behind(x):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = (x[i, 1:] - x[i, :-1]).abs().sum() + (x[i, -3:] * x[i, :3]).sum()
    return out


def variances(x):
    out = torch.zeros(x.shape[0], 4, dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i, 0] = x[i].var()
        out[i, 1] = (x[i] * 2).var(False)
        out[i, 2] = torch.std(x[i] + 1, correction=2)
        out[i, 3] = (x[i] - x[0]).std(unbiased=False)
    return out


def columns(x):
    out = torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = x[i].var(dim=0) + x[i].std(0, unbiased=False)
    return out


def of_one(x):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = x[i, : i + 1].var()
    return out


def normal(*shape, dtype=double):
    return torch.randn(*shape, dtype=dtype)


CASES = [
    (windows, lambda: (normal(12), normal(12), 4)),
    (windows, lambda: (normal(4), normal(4), 4)),
    (borders, lambda: (normal(6, 5), 1)),
    (borders, lambda: (normal(4, 4), 7)),
    (behind, lambda: (normal(5, 6),)),
    (variances, lambda: (normal(5, 7),)),
    (columns, lambda: (normal(3, 4, 5),)),
]


@pytest.mark.parametrize(("function", "make"), CASES)
@pytest.mark.parametrize("dtype", [torch.float32, double])
@pytest.mark.parametrize("gradients", [False, True])
def test_windows_in_kernels(function, make, dtype, gradients):
    torch.manual_seed(3)
    lifted = lift(function, backend="native", verify="off")
    for _ in range(2):
        args = [a.to(dtype).requires_grad_(gradients) if isinstance(a, torch.Tensor) else a for a in make()]
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        want, got = function(*args), lifted(*args)
        tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype == torch.float32 else {}
        torch.testing.assert_close(got, want, **tolerance)
        if gradients:
            weights = torch.rand_like(want)
            wanted = torch.autograd.grad((want * weights).sum(), tensors)
            found = torch.autograd.grad((got * weights).sum(), tensors)
            for one, other in zip(found, wanted, strict=True):
                torch.testing.assert_close(one, other, **tolerance)
    if not (gradients and function is columns):
        assert all(loop.decision == "native" for loop in lifted.report().loops), lifted.report()


def test_too_few_elements_are_the_loops():
    lifted = lift(of_one, backend="native", verify="off")
    x = normal(4, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.equal(lifted(x).isnan(), of_one(x).isnan())
        assert of_one(x).isnan().any()


def test_slices_that_begin_behind_the_end():
    def late(x, first):
        out = torch.zeros(x.shape[0], dtype=x.dtype)
        for i in range(x.shape[0]):
            out[i] = (x[i, first:] * 2).sum() + (x[i, first : first + 2] - 1).sum()
        return out

    lifted = lift(late, backend="native", verify="off")
    x = normal(4, 5)
    for first in (2, 0, 4, 5, 9, -2, -9):
        torch.testing.assert_close(lifted(x, first), late(x, first))
