"""Functions of very large and very small numbers in kernels: what overflows, vanishes or is NaN does so as in torch."""

import itertools

import pytest
import torch
import torch.nn.functional as F

from looplift import lift

INF, NAN = float("inf"), float("nan")


def elu(x, y):
    return F.elu(x)


def gelu(x, y):
    return F.gelu(x)


def logsigmoid(x, y):
    return F.logsigmoid(x)


def softplus(x, y):
    return F.softplus(x)


def silu(x, y):
    return F.silu(x)


def rsqrt(x, y):
    return torch.rsqrt(x)


def log10(x, y):
    return torch.log10(x)


def erf(x, y):
    return torch.erf(x)


def erfc(x, y):
    return torch.erfc(x)


def atan2(x, y):
    return torch.atan2(x, y)


def hypot(x, y):
    return torch.hypot(x, y)


def remainder(x, y):
    return torch.remainder(x, y)


def power(x, y):
    return torch.pow(x, y)


def cubed(x, y):
    return x**3


def each(x, y, function):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = function(x[i], y[i])
    return out


def deviations(x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = x[i].std()
    return out


def numbers(dtype, function):
    most, least = torch.finfo(dtype).max, torch.finfo(dtype).tiny
    positive = [most * 0.7, most**0.5 * 3, most**0.25, 3.0, 1.0, 0.3, least**0.25, least**0.5 * 0.3, least * 1.5]
    positive += [5.2, 8.2, 20.0, 37.0, 45.0, 100.0] if function in (elu, gelu, logsigmoid, softplus, silu) else [2.0]
    return [0.0, -0.0, *positive, *(-one for one in positive), INF, -INF, NAN]


def assert_same(given, expected, dtype):
    """Up to rounding, and to numbers that are no longer held at full precision."""
    least = torch.finfo(dtype).tiny
    assert torch.equal(given.isnan(), expected.isnan())
    assert torch.equal(given.isinf(), expected.isinf())
    torch.testing.assert_close(given, expected, rtol=64 * torch.finfo(dtype).eps, atol=4 * least, equal_nan=True)


ONE = [elu, gelu, logsigmoid, softplus, silu, rsqrt, log10, erf, erfc, cubed]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("function", [*ONE, atan2, hypot, remainder, power])
def test_each(function, dtype):
    wide = numbers(dtype, function)
    pairs = [(one, 1.0) for one in wide] if function in ONE else list(itertools.product(wide, wide))
    lifted = lift(each, backend="native", verify="off")
    for incoming in (1.0, 0.0, INF, -INF):
        outcomes = []
        for loop in (lifted, each):
            x, y = (torch.tensor(column, dtype=dtype, requires_grad=True) for column in zip(*pairs, strict=True))
            found = loop(x, y, function)
            far = torch.full_like(found, incoming)
            slopes = torch.autograd.grad(found, (x, y), far, materialize_grads=True)
            outcomes.append((found.detach(), *slopes))
        for ours, loops in zip(*outcomes, strict=True):
            assert_same(ours, loops, dtype)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("incoming", [1.0, 0.0, INF, -INF])
def test_deviations(incoming, dtype):
    large = torch.finfo(dtype).max * 0.6 if dtype == torch.float32 else 1e150
    rows = torch.tensor([[0, 0, 0], [2, 2, 2], [1, -3, 100], [0, 1, large], [0, -3, -large], [1, NAN, 2]], dtype=dtype)
    outcomes = []
    for loop in (lift(deviations, backend="native", verify="off"), deviations):
        x = rows.clone().requires_grad_()
        found = loop(x)
        outcomes.append((found.detach(), *torch.autograd.grad(found, x, torch.full_like(found, incoming))))
    for ours, loops in zip(*outcomes, strict=True):
        assert_same(ours, loops, dtype)
