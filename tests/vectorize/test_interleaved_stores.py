"""Stores at places that leave other remainders, as even and odd ones, never meet."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check
from tests.vectorize.test_distribution import matrix, vector


def rotated(x):
    out = torch.empty_like(x)
    for d in range(0, x.shape[0], 2):
        out[d] = torch.cos(x[d]) - x[d + 1]
        out[d + 1] = x[d] + torch.sin(x[d + 1])
    return out


def rotated_rows(x):
    out = torch.empty_like(x)
    for i in range(x.shape[0]):
        for d in range(0, x.shape[1], 2):
            out[i, d] = x[i, d] * 0.5 - x[i, d + 1]
            out[i, d + 1] = x[i, d] + x[i, d + 1] * 0.5
    return out


def doubled(x):
    out = torch.zeros(2 * x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        out[2 * i] = x[i]
        out[i * 2 + 1] = x[i] * 3
    return out


def of_three(x):
    out = torch.zeros(3 * x.shape[0], x.shape[1], dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[3 * i, j] = x[i, j]
            out[3 * i + 2, j] = x[i, j] * 3
            out[3 * i + 1, j] = x[i, j] * 5
    return out


def from_the_caller(x):
    for d in range(1, x.shape[0] - 1, 2):
        x[d + 1] = x[d] * 2
    return x


def in_turns_of_rows(x):
    rows = []
    for i in range(x.shape[0]):
        row = torch.empty_like(x[i])
        for d in range(0, x.shape[1], 2):
            row[d] = x[i][d] * 0.5 - x[i][d + 1]
            row[d + 1] = x[i][d] + x[i][d + 1] * 0.5
        rows.append(torch.softmax(row, 0))
    return torch.stack(rows)


LANES = [
    (rotated, [vector(8)], [vector(6)]),
    (rotated_rows, [matrix(3, 8)]),
    (doubled, [vector(5)]),
    (of_three, [matrix(4, 3)]),
    (in_turns_of_rows, [matrix(3, 6)]),
]


@pytest.mark.parametrize(("function", "calls"), [(f, calls) for f, *calls in LANES])
def test_places_in_turn(function, calls):
    check(function, *calls)


def test_what_is_read_is_never_written():
    check(from_the_caller, [vector(9)], [vector(8)], gradients=False)


def meeting(x):
    out = torch.zeros(x.shape[0] + 4, dtype=x.dtype)
    for d in range(0, x.shape[0], 2):
        out[d] = x[d]
        out[d + 2] = x[d] * 3
    return out


def steps_that_meet(x):
    out = torch.zeros(8 * x.shape[0], dtype=x.dtype)
    for i in range(0, x.shape[0], 2):
        out[2 * i] = x[i]
        out[3 * i + 2] = x[i] * 3
    return out


def from_a_place_that_moves(x):
    out = torch.zeros(x.shape[0] + 4, dtype=x.dtype)
    for i in range(x.shape[0]):
        for d in range(i, x.shape[0], 2):
            out[d] = x[i]
            out[d + 1] = x[d] * 3
    return out


@pytest.mark.parametrize("function", [meeting, steps_that_meet, from_a_place_that_moves])
def test_places_that_meet(function):
    from looplift import lift
    from looplift.base.compare import difference

    for backend in ("auto", "torch", "native"):
        lifted = lift(function, backend=backend, verify="off")
        for _ in range(2):
            assert not difference(lifted(vector(7)), function(vector(7)), magnitude=1.0, path="call")
