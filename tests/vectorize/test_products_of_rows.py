"""Rows that are multiplied one after another."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift
from looplift.base.compare import difference


def powers(x, w):
    for _ in range(3):
        x = x * w[0]
    return x


def of_all_rows(x, w):
    product = torch.ones(w.shape[1])
    for t in range(len(w)):
        product = product * w[t]
    return product


def of_differences(x, w):
    out = []
    for i in range(len(w)):
        product = x * 1
        for t in range(len(w)):
            product = product * (w[t] - w[i] + 1)
        out.append(product)
    return torch.stack(out)


def of_rows_before(x, w):
    out = []
    for i in range(len(w)):
        product = x * 1
        for t in range(i):
            product = product * w[t]
        out.append(product)
    return torch.stack(out)


@pytest.mark.parametrize("program", [powers, of_all_rows, of_differences, of_rows_before], ids=lambda p: p.__name__)
def test_rows_are_multiplied_in_lanes(program):
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(5, 4, generator=generator)
    check(program, [torch.randn(4, generator=generator), rows], [torch.ones(4), rows * 2])


@pytest.mark.parametrize("scale", [1e30, 1e-30, 0.0, float("inf")])
def test_products_that_overflow_or_vanish_on_the_way_are_the_loops(scale):
    rows = torch.linspace(0.5, 2.0, 20).reshape(5, 4)
    rows[2] *= scale
    rows[3] /= scale or 1.0
    lifted = lift(of_all_rows, verify="off", backend="torch")
    for _ in range(2):
        assert difference(lifted(None, rows), of_all_rows(None, rows)) is None
