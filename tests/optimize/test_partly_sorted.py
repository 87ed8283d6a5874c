"""Places in order of which only the first are read: no more are looked for, and equal keys stay in their order."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift
from looplift.pipeline import through_ir


def until_enough(x, limit):
    tokens, counts = [], []
    for row in x:
        p = row.tolist()
        order = sorted(range(len(p)), key=lambda k: -p[k])
        total, chosen = 0.0, []
        for k in order:
            chosen.append(k)
            total += p[k]
            if total >= limit:
                break
        tokens.append(chosen[-1] * 1000 + chosen[0])
        counts.append(len(chosen))
    return tokens, counts


def least_ones(x):
    out = torch.zeros(x.shape[0], 3, dtype=x.dtype)
    for i in range(x.shape[0]):
        order = sorted(range(x.shape[1]), key=lambda k: x[i, k].item())
        for place in range(3):
            out[i, place] = x[i, order[place]] * (order[place] + 1)
    return out


def of_what_changes(x, y):
    for i in range(x.shape[0]):
        p = x[i].tolist()
        order = sorted(range(len(p)), key=lambda k: p[k])
        x[i, 0] = 1e9
        for place in range(4):
            y[i, place] = order[place]
    return y


def all_of_them(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        order = sorted(range(x.shape[1]), key=lambda k: -x[i, k].item())
        for place, k in enumerate(order):
            out[i, place] = x[i, k] * place
    return out


def spread_out(n, m, seed=0):
    return torch.softmax(torch.randn(n, m, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 3, -1)


def tied(x, first, second):
    """The numbers with the second greatest of each row equal to another one."""
    x = x.clone()
    order = x.argsort(-1, descending=True)
    x.scatter_(1, order[:, second : second + 1], x.gather(1, order[:, first : first + 1]))
    return x


X = spread_out(5, 900)
SEARCHED = {"lanes", "scan"}


@pytest.fixture
def in_blocks(monkeypatch):
    monkeypatch.setattr(through_ir, "SEARCHED", 4000)


@pytest.mark.usefixtures("in_blocks")
def test_a_search_reads_the_first():
    equal = [tied(X, 1, 2), tied(X, 127, 128), tied(X, 128, 129), torch.zeros_like(X) + 1 / 900]
    calls = [[x, limit] for x in (X, *equal) for limit in (0.5, 0.99)]
    check(until_enough, *calls, [X, 2.0], gradients=False, decisions=SEARCHED)
    lifted: Any = lift(until_enough, backend="torch", verify="off")
    lifted(X, 0.9)
    assert "PlacesInOrder(" in lifted.source and "for start in range(" in lifted.source


@pytest.mark.usefixtures("in_blocks")
def test_keys_that_are_no_numbers_are_the_loops():
    lifted: Any = lift(until_enough, backend="torch", verify="off")
    lifted(X, 0.9)
    for number in (float("nan"), float("inf"), -float("inf"), -0.0):
        x = X.clone()
        x[2, 700] = number
        x[3, 5:9] = -number
        assert lifted(x, 0.9) == until_enough(x, 0.9)
    x[0, 0], x[0, 1] = float("inf"), -float("inf")
    assert lifted(x, 0.9) == until_enough(x, 0.9)


def test_so_many_as_a_loop_counts():
    signs = torch.zeros(5, 900, dtype=torch.float64)
    signs[:, ::2] = -0.0
    check(least_ones, [X], [tied(X, 897, 899)], [signs], [X[:, :3].contiguous()], [torch.randint(0, 50, (4, 600))])
    lifted: Any = lift(least_ones, backend="torch", verify="off")
    lifted(X)
    assert "PlacesInOrder(" in lifted.source


def test_what_is_written_later_is_sorted_before():
    y = torch.zeros(5, 4, dtype=torch.long)
    check(of_what_changes, [X, y], [tied(X, 899, 898), y], gradients=False)


def test_all_of_them_are_sorted_at_once():
    check(all_of_them, [X[:, :200].contiguous()])
    lifted: Any = lift(all_of_them, backend="torch", verify="off")
    lifted(X)
    assert "PlacesInOrder(" not in lifted.source


def test_no_lanes_and_few_keys():
    lifted: Any = lift(until_enough, backend="torch", verify="off")
    for x in (X, X[:, :2].contiguous(), X[:0], X[:1]):
        assert lifted(x, 0.7) == until_enough(x, 0.7)
