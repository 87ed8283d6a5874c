"""Loops of another length in each lane that need the iteration before: as long as that of the longest, as a scan."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift
from looplift.base.compare import difference


def above(x, counts):
    out = []
    for i in range(len(counts)):
        total = 0.0
        for j in range(counts[i]):
            total += x[i, j].item()
        out.append(1 if total > 0.25 else 0)
    return out


def crossing(x, counts, limits):
    out = []
    for i in range(len(counts)):
        total, place = 0.0, -1
        for j in range(counts[i]):
            total += x[i, j].item()
            if total > limits[i].item():
                place = j
                break
        out.append(place)
    return out


def of_rows(rows, limit):
    out = []
    for row in rows:
        total, last = 0.0, -1.0
        for value in row:
            total += value
            if total >= limit:
                last = value
                break
        out.append(last)
    return out


COUNTS = [4, 1, 6, 3, 5]


def table(rows=5, columns=6, seed=0):
    return torch.rand(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) - 0.3


def test_a_sum_that_decides():
    calls = [[table(seed=k), COUNTS] for k in range(2)]
    check(above, *calls, [table(), [1] * 5], gradients=False, decisions={"lanes", "scan"})


def test_lanes_without_an_iteration():
    check(above, [table(), COUNTS], [table(), [0, 2, 0, 6, 1]], gradients=False, decisions={"lanes", "scan"})
    lifted = lift(above, backend="torch")
    lifted(table(), COUNTS)
    assert lifted(table(), [0] * 5) == above(table(), [0] * 5)


def test_a_search_for_where_a_sum_passes_a_limit():
    calls = [[table(seed=k), COUNTS, table(5, 1, k)[:, 0]] for k in range(3)]
    check(crossing, *calls, gradients=False, decisions={"lanes", "scan"})
    check(crossing, [table(), [0, 2, 0, 6, 1], table(5, 1)[:, 0]], gradients=False, decisions={"lanes", "scan"})


def test_rows_of_another_length_each():
    rows = [[0.5, 0.25, 1.0], [0.125], [2.0, 3.0], [0.1, 0.2, 0.3, 0.4]]
    check(of_rows, [rows, 0.6], [rows, 9.0], [rows, 0.0], gradients=False, decisions={"lanes", "scan"})


@pytest.mark.parametrize("function", [above])
def test_every_bit_is_kept(function):
    lifted, generator = lift(function, backend="torch"), torch.Generator().manual_seed(3)
    counts = torch.randint(1, 40, (200,), generator=generator).tolist()
    for k in range(5):
        given = table(200, 40, k), counts
        assert lifted(*given) == function(*given)
    assert "cumsum" in lifted.source


def test_a_place_outside_raises_as_in_the_loop():
    lifted = lift(above, backend="torch")
    lifted(table(), COUNTS)
    with pytest.raises(IndexError):
        lifted(table(), [4, 1, 7, 3, 5])


def test_one_lane_that_is_much_longer_than_all_others():
    lifted, counts = lift(above, backend="torch"), [1] * 3999 + [300]
    given = torch.rand(4000, 300, dtype=torch.float64)
    lifted(given, [3, 2] * 2000)
    for _ in range(3):
        assert not difference(lifted(given, counts), above(given, counts), magnitude=1.0, path="uneven")
