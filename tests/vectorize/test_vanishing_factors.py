"""Recurrences whose factors, multiplied in another order, vanish: what the loop makes large again is not lost."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check_backends


def products(a, b, h):
    out = torch.zeros(a.shape[0])
    for i in range(a.shape[0]):
        h = h * a[i]
        out[i] = h
    return out


def affine(a, b, h):
    out = torch.zeros(a.shape[0])
    for i in range(a.shape[0]):
        h = a[i] * h + b[i]
        out[i] = h
    return out


def only_the_last(a, b, h):
    for i in range(a.shape[0]):
        h = a[i] * h + b[i]
    return h * 2


def of_rows(a, b, h):
    out = []
    h = torch.stack([h, h])
    for i in range(a.shape[0]):
        h = torch.stack([a[i], a[i] * 0.5]) * h + b[i]
        out.append(h)
    return torch.stack(out)


def by_one_number(a, b, h):
    out = torch.zeros(a.shape[0])
    for i in range(a.shape[0]):
        h = h * 1e-20 + b[i]
        out[i] = h
    return out


FUNCTIONS = (products, affine, only_the_last, of_rows)
VANISHING = (
    ([1.0, 1e-30, 1e-30, 1e30, 1.0, 1.0, 1.0, 1.0], 1e30),
    ([1.0, 1e-25, 1e-25, 1e25, 1e25, 1.0], 1.0),
    ([1.0, 1.0, 1e-20, 1e-20, 1.0, 1e10, 1.0], 1e38),
)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("factors", "first"), VANISHING)
def test_factors_that_vanish(function, factors, first):
    a = torch.tensor(factors)
    check_backends(function, [a, torch.zeros(len(a)), torch.tensor(first)], kept={"torch", "auto"})


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("spread", [0.5, 1.0, 1.6])
def test_other_factors_stay_lifted(function, spread):
    a = torch.rand(300) * 2 * spread
    check_backends(
        function, [a, torch.randn(300), torch.tensor(3.0)], [a.clamp(max=1), torch.ones(300), torch.ones(())]
    )


def test_decays_stay_lifted():
    b = torch.zeros(12)
    b[[0, 5]] = 1e5
    check_backends(by_one_number, [b, b, torch.tensor(1e-9)], [b, b, torch.tensor(1e7)])


def test_vanishing_factors_of_arrays():
    def running(a, h):
        out = np.zeros(len(a))
        for i in range(len(a)):
            h = h * a[i] + 0.0
            out[i] = h
        return out

    fine, vanishing = np.linspace(0.1, 1.7, 200), np.array([1.0, 1e-200, 1e-200, 1e300, 1.0])
    check_backends(running, [fine, 2.0])
    check_backends(running, [vanishing, 1e200], kept={"torch", "auto"})


def test_gradients_that_are_large():
    def scaled(a, b, h):
        out = torch.zeros(a.shape[0])
        for i in range(a.shape[0]):
            h = a[i] * h + b[i]
            out[i] = h * b[i]
        return out

    b = torch.tensor([1e-30, 1.0, 1.0, 1e30])
    a = torch.tensor([1.0, 1e-22, 1e-22, 1e-2])
    check_backends(scaled, [a, b, torch.tensor(1e-30)], gradients=True, kept={"torch", "auto"})
