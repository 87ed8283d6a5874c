"""Reads beside a position that is not the first one of its loop, or not the last one: shifted arrays."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def vector(size, seed=0):
    return torch.randn(size, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def before(x, first):
    out = torch.zeros_like(x)
    for t in range(x.shape[0]):
        if t == 0:
            p = first
        else:
            p = x[t - 1]
        out[t] = x[t] * 2 - p
    return out


def after(x, last):
    out = torch.zeros_like(x)
    for t in range(x.shape[0]):
        if t != x.shape[0] - 1:
            out[t] = x[t + 1] * x[t]
        else:
            out[t] = last
    return out


def backwards(x, last):
    out = torch.zeros_like(x)
    for t in reversed(range(x.shape[0])):
        if t == x.shape[0] - 1:
            following = last
        else:
            following = x[t + 1]
        out[t] = following - x[t]
    return out


@pytest.mark.parametrize("function", [before, after, backwards])
def test_neighbours_of_all_but_one(function):
    for size in (1, 2, 5):
        check(function, [vector(size), torch.tensor(1.5, dtype=torch.float64)])
    lifted = lift(function, backend="torch", verify="off")
    lifted(vector(5), torch.tensor(1.5, dtype=torch.float64))
    assert "windows(" in lifted.source and "taken" not in lifted.source


def test_both_directions_and_masks_of_the_data():
    def corners(x, keep):
        out = torch.zeros_like(x)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                if keep[i, j] and j != 0 and i != x.shape[0] - 1:
                    out[i, j] = x[i + 1, j - 1] * 2
                else:
                    out[i, j] = x[i, j]
        return out

    for rows, columns in ((1, 1), (1, 3), (2, 2), (4, 3)):
        x = vector(rows * columns).view(rows, columns)
        check(corners, [x, x > 0], [x, x > -9])


def test_a_position_behind_the_end():
    def other(x, y):
        out = torch.zeros_like(x)
        for t in range(x.shape[0]):
            if t != 0:
                out[t] = y[t]
        return out

    lifted = lift(other, backend="torch", verify="off")
    assert torch.equal(lifted(vector(4), vector(5)), other(vector(4), vector(5)))
    with pytest.raises(IndexError):
        lifted(vector(4), vector(3))
