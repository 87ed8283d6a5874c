"""Functions of a number and a tensor keep all digits of the number."""

import pytest
import torch

import looplift

WIDTHS = {torch.float64: 1e-13, torch.complex128: 1e-13, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def powers(k, w):
    out = []
    for i in range(len(w)):
        out.append(torch.pow(k, w[i]))
    return torch.stack(out)


def rests(k, w):
    out = []
    for i in range(len(w)):
        out.append(torch.remainder(k, w[i]))
    return torch.stack(out)


def products(k, w):
    out = torch.zeros(len(w), dtype=torch.float64)
    for i in range(len(w)):
        out[i] = torch.xlogy(2 * k, w[i])
    return out


def float_powers(k, w):
    out = []
    for i in range(len(w)):
        out.append(torch.float_power(k, w[i]) + torch.float_power(k + i, w[i]) + torch.float_power(w[i], k))
    return torch.stack(out)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64])
@pytest.mark.parametrize("k", [1.7, 2])
@pytest.mark.parametrize("function", [powers, rests, products, float_powers])
def test_digits(function, k, dtype):
    w = (torch.linspace(0.3, 3, 6, dtype=torch.float64) + 1).to(dtype)
    lifted = looplift.lift(function, backend="torch", verify="off")
    want, got = function(k, w), lifted(k, w)
    assert got.dtype == want.dtype
    width = WIDTHS.get(want.dtype, 1e-6)
    assert torch.allclose(got, want, rtol=width, atol=0)
    assert lifted.report().loops[0].decision == "lanes"
