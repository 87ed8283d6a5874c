"""Calls that may give their argument as it is: what a store makes of them is memory of its own."""

import pytest
import torch

from looplift import lift


def of_integers(x):
    out = torch.zeros(x.shape, dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = x[i].conj()
    return out


def as_tensors(x):
    out = torch.zeros(x.shape, dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = torch.asarray(x[i])
    return out


def in_rows(x):
    out = torch.zeros(x.shape, dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = torch.einsum("a->a", x[i])
    return out


@pytest.mark.parametrize("function", [of_integers, as_tensors, in_rows], ids=lambda f: f.__name__)
def test_stores_copy(function):
    for x in (torch.arange(6, dtype=torch.int32).reshape(3, 2), torch.randn(4, 3)):
        lifted = lift(function, verify="off", backend="torch")
        before = x.clone()
        result = lifted(x)
        assert torch.equal(result, before)
        result.zero_()
        assert torch.equal(x, before)


def complex_products(x):
    return torch.stack([torch.vdot(x[i], x[j]) for i in range(x.shape[0]) for j in range(x.shape[0])])


def test_the_first_factor_of_a_complex_product_is_conjugated():
    x = torch.complex(torch.randn(4, 3), torch.randn(4, 3))
    lifted = lift(complex_products, verify="off", backend="torch")
    torch.testing.assert_close(lifted(x), complex_products(x))
