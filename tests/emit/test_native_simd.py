"""Functions of several numbers at a time in kernels: near to PyTorch's everywhere, and never in Python's place."""

import math

import numpy as np
import pytest
import torch

from looplift import lift

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    math.inf,
    -math.inf,
    math.nan,
    5e-324,
    1e-310,
    -1e-42,
    88.9,
    -104.0,
    710.0,
    -746.0,
    1e30,
]
FUNCTIONS = "exp expm1 log log2 log10 log1p sin cos tan tanh asin acos atan erf erfc sigmoid".split()


def numbers(dtype):
    """999 random numbers, not a multiple of any vector's length, and those with rules of their own, (1014,)."""
    generator = torch.Generator().manual_seed(3)
    sizes = torch.logspace(-3, 2, 999, dtype=torch.float64)
    given = torch.randn(999, generator=generator, dtype=torch.float64) * sizes
    return torch.cat([given, torch.tensor(SPECIAL, dtype=torch.float64)]).to(dtype)


def loop_of(function):
    def each(x):
        out = torch.zeros_like(x)
        for i in range(x.shape[0]):
            out[i] = function(x[i])
        return out

    return each


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_near_to_those_of_pytorch(name, dtype):
    function, x = getattr(torch, name), numbers(dtype)
    got = lift(loop_of(function), backend="native", verify="off")(x)
    want = function(x.double())
    step = 8 * torch.finfo(dtype).eps
    if dtype == torch.float64:
        want = function(x)
    torch.testing.assert_close(got, want.to(dtype), rtol=step, atol=torch.finfo(dtype).tiny, equal_nan=True)


def chosen(x, out):
    for i in range(x.shape[0]):
        if x[i] > 0:
            out[i] = torch.log(x[i]) + 1
        else:
            out[i] = torch.exp(x[i])
    return out


def test_sides_of_a_branch():
    x = numbers(torch.float64)
    got = lift(chosen, backend="native", verify="off")(x, torch.zeros_like(x))
    want = torch.where(x > 0, x.log() + 1, x.exp())
    torch.testing.assert_close(got, want, rtol=2e-15, atol=5e-324, equal_nan=True)


def both_libraries(x, numbers):
    out, kept = torch.zeros_like(x), []
    for i in range(x.shape[0]):
        out[i] = torch.exp(x[i]) + torch.log(x[i])
        numbers[i] = math.exp(numbers[i]) + math.log(numbers[i] + 3)
    return out, kept


def test_functions_of_python_keep_each_digit():
    x, given = torch.rand(1003, dtype=torch.float64) + 0.1, np.random.default_rng(2).random(1003)
    got = lift(both_libraries, backend="native", verify="off")
    want = [math.exp(v) + math.log(v + 3) for v in given.tolist()]
    numbers = given.tolist()
    out, _ = got(x, numbers)
    assert numbers == want
    torch.testing.assert_close(out, x.exp() + x.log(), rtol=4e-15, atol=4e-15)
