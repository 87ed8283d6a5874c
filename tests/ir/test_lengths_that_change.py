"""Lists that grow between where their length was asked and where a rewritten form would ask it again."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check_backends


def greatest_of_places(x, n, xs):
    xs, places = [*xs], []
    for i in range(n):
        for j in range(len(xs)):
            places.append(j)
    for k in range(n):
        xs.append(k)
    most = max(places)
    out = torch.zeros(most + 1)
    for p in range(len(places)):
        out[places[p]] += x[p]
    return out, most


def of_the_callers_list(x, n, xs):
    places = []
    for i in range(n):
        for j in range(len(xs)):
            places.append(j)
    for k in range(n):
        xs.append(k)
    most = max(places)
    return torch.zeros(most + 1) + x[most], most, min(places)


def where_nothing_grows(x, n, xs):
    places = []
    for i in range(n):
        for j in range(len(xs)):
            places.append(j)
    for i in range(n):
        xs[i] = i
    return torch.zeros(max(places) + 1) + x[0]


def filled_to_another_end(x, n, xs):
    sizes = [*xs]
    rows = [[0.0] * len(sizes) for _ in range(n)]
    for i in range(n):
        for j in range(len(sizes)):
            rows[i][j] = x[i + j]
        sizes.append(1)
    return rows


@pytest.mark.parametrize("function", [
    greatest_of_places, of_the_callers_list, where_nothing_grows, filled_to_another_end,
])  # fmt: skip
def test_lengths_are_those_of_their_time(function):
    check_backends(function, [torch.rand(40), 3, [4, 5, 6]], [torch.rand(40), 1, [4]], kept={"auto", "torch", "native"})
