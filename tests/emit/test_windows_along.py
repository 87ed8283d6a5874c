"""Windows of one width that begin at places of the data, one in each row; numbers counted at places of the data."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def cut(x, first, width):
    out = []
    for row, k in zip(x, first):
        out.append(row[k : k + width])
    return torch.stack(out)


def cut_planes(x, first, width):
    out = torch.zeros(x.shape[0], x.shape[1], width, dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j, first[i, j] : first[i, j] + width]
    return out


def cut_scaled(x, first, width):
    out = []
    for i in range(len(first)):
        out.append(x[i, first[i] : first[i] + width] * 2)
    return torch.stack(out)


def places(*shape: int, most: int) -> torch.Tensor:
    return torch.randint(0, most + 1, shape, generator=torch.Generator().manual_seed(len(shape)))


@pytest.mark.parametrize("function", [cut, cut_scaled])
def test_windows_of_rows(function):
    x = torch.arange(60.0).view(6, 10)
    turned = torch.arange(60.0).view(10, 6).T
    check(function, [x, places(6, most=6), 4], [turned, places(6, most=6), 4], [x[:2], places(2, most=9), 1])
    check(function, [x[:, :4], places(6, most=0), 4], [x, places(6, most=8).int(), 2], [x, places(3, most=8), 2])


def test_windows_of_planes():
    x = torch.arange(60.0).view(2, 3, 10)
    check(cut_planes, [x, places(2, 3, most=6), 4], [x.transpose(0, 1), places(3, 2, most=8), 2])


def test_windows_that_are_cut_off_are_left_to_the_loop():
    x = torch.arange(20.0).view(2, 10)
    lifted = lift(cut, backend="torch")
    for first, width in (([1, 2], 3), ([8, 8], 3), ([-3, -3], 2), ([0, 0], 0), ([1, 2], 3)):
        first = torch.tensor(first)
        assert torch.equal(lifted(x, first, width), cut(x, first, width))
    for first in ([1, 9], [-1, 2]):
        with pytest.raises(RuntimeError, match="equal size"):
            lifted(x, torch.tensor(first), 3)


def pairs_counted(states, n):
    counts = torch.zeros(n, n)
    for t in range(len(states) - 1):
        counts[states[t], states[t + 1]] += 1
    return counts


def greatest_of_groups(groups, values, n):
    found = torch.full((n,), float("-inf"))
    for i in range(len(groups)):
        found[groups[i]] = max(found[groups[i]], values[i])
    return found


@pytest.mark.parametrize("count", [2, 3, 400])
def test_numbers_at_places_of_the_data_are_a_kernel(count):
    groups, values = places(count, most=3), torch.randn(count)
    cases: list[Any] = [(pairs_counted, (groups, 4)), (greatest_of_groups, (groups, values, 4))]
    for function, given in cases:
        lifted = lift(function)
        for _ in range(2):
            assert torch.equal(lifted(*given), function(*given))
        assert {loop.decision for loop in lifted.report().loops} == {"native"}
        with pytest.raises(IndexError):
            lifted(*given[:-1], 1)
