"""Gradients that are infinite, or no numbers, of programs over small tensors: they are those of the loop."""

import math

import pytest
import torch
from tests.fuzz.sharing import programs_first

from looplift import lift, pipeline

ROWS = torch.tensor([[1.0, 0.0, 3.0], [3.0, 3.0, 2.0], [0.0, 0.0, 0.0], [-1.0, 2.0, 0.5]], dtype=torch.float64)
INFINITE = torch.tensor([math.inf, 0.5, -math.inf, math.nan], dtype=torch.float64)


@pytest.fixture(autouse=True)
def _programs(monkeypatch):
    monkeypatch.setattr(pipeline, "compile_region", pipeline.compile_region)
    programs_first()


def slopes(function, rows, weights):
    rows = rows.clone().requires_grad_()
    found = function(rows)
    return torch.autograd.grad(found, rows, weights.expand_as(found))[0]


def check(function, rows=ROWS, weights=INFINITE):
    lifted = lift(function, verify="off")
    lifted(rows.clone().requires_grad_())
    torch.testing.assert_close(slopes(lifted, rows, weights), slopes(function, rows, weights), equal_nan=True)
    assert "run_program" in lifted.source, lifted.report()


def test_an_overwritten_root_of_zero_is_in_a_product_with_zero():
    def distances(x):
        out = x[:, 0].clone()
        for i in range(2):
            far = (x[i] - x[0]).norm()
            for r in range(len(x)):
                out[r] = far**0.5
        return out

    check(distances, weights=torch.ones(4, dtype=torch.float64))


def norms(x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = x[i].norm()
    return out


def greatest(x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = x[i].amax()
    return out


def greatest_of_all(x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = x[i].max()
    return out


def variances(x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = x[i].var()
    return out


def shares(x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = x[i].softmax(0)[0]
    return out


@pytest.mark.parametrize("function", [norms, greatest, greatest_of_all, variances, shares])
def test_folds(function):
    check(function)


@pytest.mark.parametrize("of", [torch.floor, torch.ceil, torch.trunc, torch.round, torch.sign, torch.relu, torch.abs])
def test_steps_get_nothing_from_what_is_infinite(of):
    def each(x):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            out[i] = of(x[i])
        return out

    check(each, weights=INFINITE[:, None])
