"""Searches in too many iterations for one look: block by block, until all lanes have found what they look for."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import outcome
from tests.vectorize.test_distribution import matrix
from tests.vectorize.test_searches import PROGRAMS, drawn, drawn_with_the_rest, first_one, last_one, of_a_triangle

from looplift import lift
from looplift.base.compare import difference
from looplift.pipeline import through_ir


def from_the_second_pair(x):
    return [next((j for j in range(1, row.shape[0]) if row[j - 1] < 0 <= row[j]), None) or -1 for row in x * 2]


def third_hit(x):
    out = []
    for i in range(x.shape[0]):
        count, at = 0, -1
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                count += 1
            if count == 3:
                at = j
                break
        out.append(at)
    return out


def of_some_rows(x):
    out = torch.zeros_like(x[:, 0])
    for i in range(x.shape[0]):
        if x[i, 0] < 0.5:
            for j in range(1, x.shape[1]):
                if x[i, j] > 0.5:
                    out[i] = x[i, j] * x[i, 0]
                    break
    return out


VALUES = [matrix(5, 7), matrix(1, 2), matrix(2, 1), matrix(3, 40), -matrix(3, 4).abs() - 1, matrix(3, 4).abs() + 2]


@pytest.fixture(params=[8, 300])
def in_blocks(request, monkeypatch):
    monkeypatch.setattr(through_ir, "SEARCHED", request.param)


def agree(function, *calls, gradients=False):
    lifted = lift(function, verify="off", backend="torch")
    for values in calls:
        wanted = outcome(function, list(values), gradients=gradients)
        for _ in range(2):
            why = difference(outcome(lifted, list(values), gradients=gradients), wanted, magnitude=1.0, path="call")
            assert not why, f"{function.__name__}: {why}\n{lifted.source}"
    return lifted


@pytest.mark.parametrize("function", [*PROGRAMS, of_a_triangle, from_the_second_pair, third_hit, of_some_rows])
@pytest.mark.usefixtures("in_blocks")
def test_blocks_of_rows(function):
    calls = [(x,) for x in VALUES]
    x = matrix(5, 7)
    x[1, 2] = x[3, 0] = float("nan")
    agree(function, *calls, (x,))
    agree(function, *calls, gradients=True)


@pytest.mark.parametrize("function", [drawn, drawn_with_the_rest])
@pytest.mark.usefixtures("in_blocks")
def test_sums_that_decide_go_on_in_the_next_block(function):
    p = torch.rand(6, 41, dtype=torch.float64)
    agree(function, (p, p[:, :20].sum(1)), (p, p[:, 0] * 0 + 1e9), (p, p[:, 0]))


@pytest.mark.parametrize("function", [first_one, last_one])
def test_rows_are_not_searched_to_their_end(function):
    x = torch.zeros(40, 40000)
    x[:, 3] = x[:, -3] = 1
    assert "for start in range(" in agree(function, (x,)).source


@pytest.mark.usefixtures("in_blocks")
def test_no_row_and_no_column():
    agree(first_one, (torch.zeros(4, 30),), (torch.zeros(0, 30),), (torch.zeros(4, 0),))
