"""Axes of which lanes see but the first places, those up to the end of a search, are as long as these."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift
from looplift.base.compare import difference


def drawn_prefix(p, limit):
    out, kept = [], []
    for row in p:
        values = row.tolist()
        mass, chosen = 0.0, []
        for i in range(len(values)):
            chosen.append(i)
            mass += values[i]
            if mass >= limit:
                break
        total = 0.0
        for i in chosen:
            total += values[i] * i
        out.append(total)
        kept.append(len(chosen))
    return out, kept


def before_the_end(x, y):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.9:
                break
            out[i] += torch.exp(y[i, j]) * y[i, j]
    return out


def up_to_the_end(x, y):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i] += y[i, j] / x[i, j]
            if x[i, j] > 0.9:
                break
    return out


def all_and_some(x, y):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        end = x.shape[1]
        for j in range(x.shape[1]):
            if x[i, j] > 0.9:
                end = j
                break
        for j in range(x.shape[1]):
            if j <= end:
                out[i] += y[i, j]
            else:
                out[i] -= y[i, j] * 0.5
    return out


def counted_places(x, y):
    out = []
    for i in range(x.shape[0]):
        count = 0
        for j in range(x.shape[1]):
            if x[i, j] > 0.9:
                break
            if y[i, j] > 0:
                count += 1
        out.append(count)
    return out


def rows(n, m, *, at=-1, seed=0):
    """Numbers of which one of each row is greater than 0.9, each row's one place further on; none without ``at``."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(n, m, generator=generator, dtype=torch.float64) * 0.8 + 0.05
    for i in range(n if at >= 0 else 0):
        x[i, (at + i) % m] = 0.95
    return x, torch.randn(n, m, generator=generator, dtype=torch.float64)


MANY = [rows(30, 600, at=4), rows(30, 600, at=599)]
FEW = [rows(3, 5, at=1), rows(1, 1, at=0), rows(2, 7), rows(20, 900)]


@pytest.mark.parametrize("function", [before_the_end, up_to_the_end])
def test_iterations_behind_the_end_are_none(function):
    check(function, *map(list, MANY + FEW[:3]))
    lifted: Any = lift(function, backend="torch", verify="off")
    lifted(*MANY[0])
    assert "places_reached(" in lifted.source


def test_gradients_of_what_is_not_looked_at():
    x, y = rows(40, 500, at=2)
    y[:, 300:] = 1000.0  # of which exp has no finite gradient
    check(before_the_end, [x, y])


def test_the_prefix_is_a_list():
    p = torch.softmax(torch.randn(50, 400, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 3, -1)
    calls = [[p, 0.9], [p, 2.0], [p, 0.0], [p[:2, :3].contiguous(), 0.5]]
    check(drawn_prefix, *calls, gradients=False, decisions={"lanes", "scan"})
    lifted: Any = lift(drawn_prefix, backend="torch", verify="off")
    lifted(p, 0.9)
    assert "places_reached(" in lifted.source


def test_an_axis_of_which_all_is_seen_stays():
    check(all_and_some, *map(list, MANY[:1] + FEW), gradients=False)
    lifted: Any = lift(all_and_some, backend="torch", verify="off")
    lifted(*MANY[0])
    assert "places_reached(" not in lifted.source


def test_what_holds_is_counted():
    check(counted_places, *map(list, MANY + FEW), gradients=False)


def test_no_lanes():
    lifted: Any = lift(before_the_end, backend="torch", verify="off")
    for x in (torch.zeros(0, 40000), torch.zeros(4, 0), torch.zeros(2, 9)):
        assert difference(lifted(x, x), before_the_end(x, x), magnitude=1.0, path="call") is None
