"""Scans that emitted code calls: the loop, one position after the other, is the oracle."""

from __future__ import annotations

import pytest
import torch

from looplift.emit.helpers import helper_functions

SCANS = helper_functions(("linear_recurrence", "running_best", "best_of"))


def after_one_another(a, b, h, dim):
    found = []
    h = torch.zeros_like(b.select(dim, 0)) if h is None else h
    for k in range(b.shape[dim]):
        h = (a.select(dim, k) if isinstance(a, torch.Tensor) else a) * h + b.select(dim, k)
        found.append(h)
    return torch.stack(found, dim)


@pytest.mark.parametrize("shape, dim", [((0,), 0), ((0, 3), 0), ((3, 0), 1), ((2, 0, 4), 1)])
@pytest.mark.parametrize("size", [1, 2, 3, 64, 65, 2100])
@pytest.mark.parametrize("a", [0.9, -0.5, 0, 1, "factors"])
@pytest.mark.parametrize("begins", [False, True])
def test_linear_recurrences(shape, dim, size, a, begins):
    shape = tuple(extent or size for extent in shape)
    rest = shape[:dim] + shape[dim + 1 :]
    b = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    factors = torch.rand(shape, dtype=torch.float64, requires_grad=True) if a == "factors" else a
    h = torch.randn(rest, dtype=torch.float64) if begins else None
    wanted = after_one_another(factors, b, h, dim)
    found = SCANS["linear_recurrence"](factors, b, h, dim)
    torch.testing.assert_close(found, wanted)
    weights = torch.randn_like(wanted)
    inputs = [b] if a != "factors" or (size == 1 and not begins) else [b, factors]
    gradients = [torch.autograd.grad((one * weights).sum(), inputs) for one in (found, wanted)]
    torch.testing.assert_close(*gradients)
    with torch.no_grad():
        given = b.clone()
        torch.testing.assert_close(SCANS["linear_recurrence"](factors, given, h, dim), wanted)
        assert torch.equal(given, b)


@pytest.mark.parametrize("a", [float("inf"), torch.tensor([float("inf")])])
def test_infinite_factors_show(a):
    assert not torch.isfinite(SCANS["linear_recurrence"](a, torch.ones(1), None, 0)).any()


def bits(values):
    return values.nan_to_num(7.0).tolist(), torch.signbit(values).tolist()


@pytest.mark.parametrize("sign", [">", ">=", "<", "<="])
@pytest.mark.parametrize("rows", [[[2.0, 1.0, 3.0], [1.0, 1.0, -4.0]], [[1.0, float("nan"), 5.0]], [[3.0, 0.0, 4.0]]])
def test_best_values_along_a_row(sign, rows):
    values = torch.tensor(rows)
    better = {">": torch.gt, ">=": torch.ge, "<": torch.lt, "<=": torch.le}[sign]
    for first in (values[:, 0], values[:, 1], torch.full_like(values[:, 0], 2)):
        best, wanted = first, []
        for column in values.unbind(1):
            best = torch.where(better(column, best), column, best)
            wanted.append(best)
        found = SCANS["running_best"](sign, values, first, 1)
        torch.testing.assert_close(found, torch.stack(wanted, 1), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("sign", [">", ">=", "<", "<="])
@pytest.mark.parametrize("first", [-0.0, 0.0, 1.0, float("nan"), float("inf"), -float("inf")])
def test_best_values_keep_their_bits(sign, first):
    nan = float("nan")
    rows = [[-0.0, 0.0, -0.0, 0.0], [nan, 1.0, 1.0, 2.0], [nan, nan, nan, nan], [0.0, -1.0, -0.0, nan]]
    better = {">": torch.gt, ">=": torch.ge, "<": torch.lt, "<=": torch.le}[sign]
    values, start = torch.tensor(rows), torch.full((4,), first)
    running, places = [], []
    for row in values:
        best, place, so_far = torch.tensor(first), -1, []
        for k, value in enumerate(row):
            if better(value, best):
                best, place = value, k
            so_far.append(best)
        running.append(torch.stack(so_far))
        places.append(place)
    wanted = torch.stack(running)
    assert bits(SCANS["running_best"](sign, values, start, 1)) == bits(wanted)
    place, best = SCANS["best_of"](sign, values, start, 1)
    assert bits(best) == bits(wanted[:, -1])
    assert place.tolist() == places
