"""Dicts that count the items of a list: the different items, and how often each is there."""

from __future__ import annotations

import collections
from collections import Counter, defaultdict

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift
from looplift.frontend.source import source_of
from looplift.frontend.tallies import with_tallies


def penalised(x, histories):
    out = []
    for row, history in zip(x, histories):
        counts = {}
        for t in history:
            counts[t] = counts.get(t, 0) + 1
        z = row.clone()
        for t, c in counts.items():
            if z[t] > 0:
                z[t] = z[t] / 2.0**c
            else:
                z[t] = z[t] * 2.0**c
        out.append(z)
    return torch.stack(out)


def by_default(x, histories):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        counts = defaultdict(int)
        for t in histories[i]:
            counts[t] += 1
        for t in counts:
            out[i, t] = x[i, t] + 1
    return out


def by_a_counter(x, histories):
    totals = []
    for row, history in zip(x, histories):
        counts = collections.Counter()
        for t in history:
            counts[t] += 1
        total = row.new_zeros(())
        for c in counts.values():
            total = total + row[0] * c * c
        totals.append(total)
    return torch.stack(totals)


def asked_first(x, histories):
    totals = []
    for row, history in zip(x, histories):
        counts = Counter()
        for t in history:
            if t not in counts:
                counts[t] = 1
            else:
                counts[t] += 1
        total = row.new_zeros(())
        for t, c in counts.items():
            total = total + row[t] * c
        for t in counts.keys():
            total = total * 1.5 + row[t]
        totals.append(total)
    return torch.stack(totals)


def read_at_a_key(x, histories):
    totals = []
    for row, history in zip(x, histories):
        counts = {}
        for t in history:
            counts[t] = counts.get(t, 0) + 1
        total = row.new_zeros(())
        for t, c in counts.items():
            total = total + row[t] * counts[t]
        totals.append(total)
    return torch.stack(totals)


def last_item(x, histories):
    totals = []
    for row, history in zip(x, histories):
        counts = {}
        t = 0
        for t in history:
            counts[t] = counts.get(t, 0) + 1
        total = row[t]
        for k, c in counts.items():
            total = total + row[k] * c
        totals.append(total)
    return torch.stack(totals)


X = torch.randn(5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
HISTORIES = [[3, 1, 3, 3], [0], [5, 4, 5, 4, 2, 5], [], [1, 1, 1]]
FULL = [[3, 1, 3], [0, 0], [5, 4, 5], [2, 3, 4, 4], [1]]


@pytest.mark.parametrize("function", [penalised, by_default, by_a_counter])
def test_each_item_comes_once_with_its_number(function):
    check(function, [X, FULL], gradients=False)
    check(function, [X, HISTORIES], gradients=False)


def test_keys_may_be_any_integers():
    far = [[2**62, -(2**62), 7, 2**62], [-5], [7, -5, 7], [], [-(2**62)]]
    check(by_a_counter, [X, far], [X, [[-5, 7, -5]] * 5], gradients=False)


def test_the_items_come_in_their_order():
    check(asked_first, [X, FULL], [X, HISTORIES], gradients=False, decisions={"lanes", "scan"})


def test_negative_places_may_be_those_of_others():
    lifted = lift(penalised, backend="torch", verify="off")
    lifted(X, FULL)
    histories = [[-1, 5], *FULL[1:]]
    assert torch.equal(lifted(X, histories), penalised(X, histories))
    with pytest.raises(IndexError):
        lifted(X, [[6], *FULL[1:]])


def test_keys_that_are_no_integers_are_the_loops():
    lifted = lift(by_a_counter, backend="torch", verify="off")
    histories = [[1.0, 1, True], *FULL[1:]]
    assert torch.equal(lifted(X, histories), by_a_counter(X, histories))


@pytest.mark.parametrize("function", [read_at_a_key, last_item])
def test_other_uses_of_the_dict_or_the_item_are_the_loops(function):
    statements = source_of(function).tree.body
    names = {"x": X, "histories": HISTORIES}
    assert with_tallies(statements, names, globals(), ()) is None
    lifted = lift(function, backend="torch", verify="off")
    assert torch.equal(lifted(X, HISTORIES), function(X, HISTORIES))
