"""Dicts under pairs of numbers that lie too far apart for a table: where each key stands is looked up."""

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift
from looplift.frontend.dictionaries import LIMIT

FAR = 700
assert FAR * FAR > LIMIT


def keys(seed, count=40, low=0):
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.randint(low, FAR, (count, 2), generator=generator).tolist()
    return [(low, low), (FAR - 1, FAR - 1), *map(tuple, pairs)]


def weights_of_edges(table, edges, x):
    out = []
    for i, j in edges:
        out.append(table[i, j] * x[i % 5] + x[j % 5])
    return torch.stack(out)


def weights_or_nothing(table, edges, x):
    out = []
    for i, j in edges:
        out.append(table.get((i, j), -1.0) * x[i % 5])
    return torch.stack(out)


def those_that_are_there(table, edges, x):
    total = torch.zeros(3)
    for i, j in edges:
        if (i, j) in table:
            total = total + table[i, j] * x[j % 5]
    return total


def rows_of_edges(table, edges, x):
    out = []
    for i, j in edges:
        out.append(torch.tanh(table[i, j]) + x[j % 5])
    return torch.stack(out)


def x():
    return torch.randn(5, 3, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("low", [0, -3], ids=["from zero", "below zero"])
@pytest.mark.parametrize("program", [weights_of_edges, weights_or_nothing, those_that_are_there])
def test_numbers(program, low):
    calls = []
    for seed in (0, 1):
        table = {key: float(number) for number, key in enumerate(keys(seed, low=low))}
        edges = list(table)[::-1] + ([] if program is weights_of_edges else keys(7, 9, low=low))
        calls.append([table, edges, x()])
    check(program, *calls)


def test_tensors():
    table = {key: torch.full((3,), float(number)) for number, key in enumerate(keys(0))}
    check(rows_of_edges, [table, list(table)[::-1], x()])


def test_a_key_that_is_not_there_raises_as_in_the_loop():
    table = {key: 1.0 for key in keys(0)}
    lifted = lift(weights_of_edges, verify="off", backend="torch")
    torch.testing.assert_close(lifted(table, list(table), x()), weights_of_edges(table, list(table), x()))
    with pytest.raises(KeyError, match=r"\(1, 699\)"):
        lifted(table, [*table, (1, 699)], x())


def test_keys_that_come_closer_or_go_farther():
    lifted = lift(weights_of_edges, backend="torch")
    far, near = {key: 1.0 for key in keys(0)}, {(i, j): float(i - j) for i in range(9) for j in range(9)}
    farther = {(i * 2**22, j * 2**22): float(i) for i in range(9) for j in range(9)}
    for table in (far, near, farther, far):
        for _ in range(2):
            torch.testing.assert_close(lifted(table, list(table), x()), weights_of_edges(table, list(table), x()))
