"""Python's numbers that differ by iteration, beside tensors that round, overflow or are complex."""

import math

import numpy as np
import pytest
import torch

import looplift


def chosen(x, k):
    out = []
    for i in range(len(k)):
        out.append(torch.where(x > 0, k[i], 0.1))
    return torch.stack(out)


def chosen_of_two(x, k):
    out = []
    for i in range(len(k)):
        out.append(torch.where(x > 0, k[i], k[0]))
    return torch.stack(out)


def powers(x, k):
    out = []
    for i in range(len(k)):
        out.append(x[i] ** k[i])
    return torch.stack(out)


def float_powers(x, k):
    out = []
    for i in range(len(k)):
        out.append(torch.float_power(x[i], k[i]))
    return torch.stack(out)


def products(x, k):
    out = []
    for i in range(len(k)):
        out.append(x[i] * k[i])
    return torch.stack(out)


def multiples(x, k):
    out = []
    for i in range(0, k, 1000):
        out.append(x * i)
    return torch.stack(out)


INFINITE = [1.5, complex("inf"), complex("nan"), 0j]
CASES = [
    (chosen, torch.tensor([1.5, -2.0, 0.0]), [complex(v, 1) for v in (0.5, 2.0, -1.5)]),
    (chosen_of_two, torch.tensor([1.5, -2.0, 0.0]), [complex(v, 1) for v in (0.5, 2.0, -1.5)]),
    (chosen, torch.tensor([1.5, -2.0, 0.0]), [1, 2, 3]),
    (powers, torch.tensor(INFINITE), [2, 0, 0, 0]),
    (float_powers, torch.tensor(INFINITE), [2, 0, 0, 0]),
    (powers, torch.tensor(INFINITE, dtype=torch.complex128), [2.0, 0.0, 1.0, 0.0]),
    (products, torch.tensor([0.0, 1e-3, 1.5]).half(), [2**20, 2**20, 2049]),
    (products, torch.tensor([0.0, 1e-3, 1.5]).bfloat16(), [2**20, 257, 2049]),
    (multiples, torch.tensor([0.0, 1e-3, 0.01]).half(), 90000),
    (multiples, torch.tensor([0.0, 1e-3, 0.01]).bfloat16(), 900000),
]


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_values(case, backend):
    function, *given = case
    want, got = function(*given), looplift.lift(function, backend=backend, verify="off")(*given)
    assert got.dtype == want.dtype
    assert torch.equal(torch.isnan(got), torch.isnan(want))
    exact = want.dtype in (torch.float16, torch.bfloat16)
    assert torch.allclose(got, want, rtol=0 if exact else 1e-6, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("dtype", "k"),
    [(torch.uint8, [3, 300, 2]), (torch.int8, [3, 128, 2]), (torch.int32, [3, 2**31, 2]), (torch.half, [3, 2**20, 2])],
)
def test_exponents_that_no_element_can_hold_raise(dtype, k):
    x = torch.tensor([1, 1, 1]).to(dtype)
    with pytest.raises(RuntimeError, match="without overflow") as theirs:
        powers(x, k)
    with pytest.raises(RuntimeError, match="without overflow") as mine:
        looplift.lift(powers, backend="torch", verify="off")(x, k)
    assert str(mine.value) == str(theirs.value)


def normal_shares(xs):
    out = np.zeros(len(xs))
    for i in range(len(xs)):
        if xs[i] > -1:
            out[i] = 0.5 * (1 + math.erf(xs[i] / math.sqrt(2))) - math.erfc(xs[i])
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_error_functions_of_arrays(backend):
    xs = np.random.default_rng(0).normal(size=40)
    lifted = looplift.lift(normal_shares, backend=backend, verify="off")
    assert np.allclose(lifted(xs), normal_shares(xs), rtol=1e-13)
    assert lifted.report().loops[0].decision != "kept"
