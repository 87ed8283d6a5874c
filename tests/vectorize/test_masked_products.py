"""Sums of products under a condition: one factor is masked, and the sum is a product of matrices."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def up_to_the_row(w, v):
    out = torch.zeros(w.shape[0], v.shape[1])
    for i in range(w.shape[0]):
        for j in range(w.shape[0]):
            if j <= i:
                out[i] = out[i] + w[i, j] * v[j]
    return out


def before_the_row(w, v):
    out = torch.zeros(w.shape[0], v.shape[1])
    for i in range(w.shape[0]):
        for j in range(w.shape[0]):
            if j < i:
                out[i] = out[i] + w[i, j] * v[j]
    return out


def triangle(w, v):
    out = []
    for i in range(w.shape[0]):
        total = torch.zeros(v.shape[1])
        for j in range(i + 1):
            total = total + w[i, j] * v[j]
        out.append(total)
    return torch.stack(out)


def roots(w, v):
    out = torch.zeros(w.shape[0], v.shape[1])
    for i in range(w.shape[0]):
        for j in range(w.shape[0]):
            if j <= i:
                out[i] = out[i] + torch.sqrt(w[i, j]) * v[j]
    return out


def some_rows(w, v, chosen):
    out = torch.zeros(w.shape[0], v.shape[1])
    for i in range(w.shape[0]):
        total = torch.zeros(v.shape[1])
        for j in range(i + 1):
            total = total + w[i, j] * v[j]
        if chosen[i]:
            out[i] = total
    return out


def others(x, y):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            if i != j:
                out[i] += x[i] * y[j]
    return out


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


SQUARES = numbers(5, 5).abs() + torch.diag(torch.tensor([-9.0, -9.0], dtype=torch.float32).repeat(2), 1)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (up_to_the_row, [numbers(5, 5), numbers(5, 3, seed=1)]),
        (up_to_the_row, [numbers(1, 1), numbers(1, 3, seed=1)]),
        (before_the_row, [numbers(5, 5), numbers(5, 3, seed=1)]),
        (triangle, [numbers(5, 5), numbers(5, 3, seed=1)]),
        (roots, [SQUARES, numbers(5, 3, seed=1)]),
        (some_rows, [numbers(5, 5), numbers(5, 3, seed=1), torch.tensor([True, False, True, False, False])]),
        (some_rows, [numbers(5, 5), numbers(5, 3, seed=1), torch.zeros(5, dtype=torch.bool)]),
        (others, [numbers(4), numbers(5, seed=1)]),
        (others, [torch.arange(4), torch.arange(5)]),
    ],
)
def test_sums_of_masked_products(function, arguments):
    for mode in (False, True):
        values = [
            v.clone().requires_grad_(mode) if v.is_floating_point() else v for v in (a.clone() for a in arguments)
        ]
        wanted, found = function(*values), lift(function, verify="off", backend="torch")(*values)
        assert torch.allclose(found, wanted, atol=1e-5, equal_nan=True)
        leaves = [value for value in values if value.requires_grad]
        if leaves and wanted.requires_grad:
            sides = [torch.autograd.grad(side.sum(), leaves, allow_unused=True) for side in (found, wanted)]
            for ours, theirs in zip(*sides, strict=True):
                assert (ours is None) == (theirs is None)
                assert ours is None or torch.allclose(ours, theirs, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("function", [up_to_the_row, triangle])
def test_they_are_products_of_matrices(function):
    lifted = lift(function, verify="off", backend="torch")
    lifted(numbers(5, 5), numbers(5, 3, seed=1))
    assert "@ v" in lifted.source


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_what_is_not_finite_counts_where_the_condition_holds(odd):
    v = numbers(5, 3, seed=1)
    v[4, 0] = odd
    check(before_the_row, [numbers(5, 5), v], gradients=False, decisions={"lanes"})
    w = numbers(5, 5)
    w[0, 4] = w[3, 1] = odd
    check(before_the_row, [w, numbers(5, 3, seed=1)], gradients=False, decisions={"lanes"})
