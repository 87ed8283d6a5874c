"""Objects of the caller beside tensors, and objects with places for their attributes."""

import copy
import dataclasses

import pytest
import torch

from looplift import lift


class Node:
    def __init__(self, feature=None, threshold=None, left=None, right=None, value=None):
        self.feature, self.threshold, self.left, self.right, self.value = feature, threshold, left, right, value


class Slotted:
    __slots__ = ("feature", "left", "right", "threshold", "value")

    def __init__(self, feature=None, threshold=None, left=None, right=None, value=None):
        self.feature, self.threshold, self.left, self.right, self.value = feature, threshold, left, right, value


@dataclasses.dataclass(slots=True)
class Data:
    feature: int | None = None
    threshold: float | None = None
    left: object = None
    right: object = None
    value: int | None = None


def votes(forest, table, classes):
    found = []
    for i in range(len(table)):
        counts = [0] * classes
        for tree in forest:
            node = tree
            while node.value is None:
                node = node.left if table[i, node.feature] <= node.threshold else node.right
            counts[node.value] += 1
        found.append(counts.index(max(counts)))
    return found


def grown(kind, depth, seed=1):
    if not depth:
        return kind(value=seed % 3)
    parts = grown(kind, depth - 1, 5 * seed + 1), grown(kind, depth - 1, 7 * seed + 2)
    return kind(seed % 4, (seed % 9 - 4) / 4, *parts)


@pytest.mark.parametrize("kind", [Node, Slotted, Data])
def test_trees_of_objects_read_rows_of_tensors(kind):
    lifted = lift(votes, verify="off")
    forest = [grown(kind, depth, depth) for depth in (3, 0, 2, 4)]
    for count in (5, 0, 1, 9):
        table = torch.randn(count, 4, generator=torch.Generator().manual_seed(count))
        assert lifted(forest, table, 3) == votes(forest, table, 3)
    assert {one.decision for one in lifted.report().loops} == {"native"}
    broken = kind(0, 0.5, None, kind(value=1))
    with pytest.raises(AttributeError):
        lifted([broken], torch.zeros(2, 4), 3)


class Account:
    __slots__ = ("balance", "history", "name")

    def __init__(self, name, balance):
        self.name, self.balance, self.history = name, balance, []


def settle(accounts, transfers, rates):
    for source, target, amount in transfers:
        if accounts[source].balance >= amount:
            accounts[source].balance -= amount
            accounts[target].balance += amount * rates[target].item()
            accounts[target].history.append(amount)
    return sum(one.balance for one in accounts)


def state(accounts):
    return [(one.name, one.balance, one.history) for one in accounts]


def test_places_for_attributes_are_written():
    lifted = lift(settle, verify="off")
    rates = torch.tensor([0.9, 1.0, 1.1], dtype=torch.float64)
    transfers = [(0, 1, 3.0), (1, 2, 9.0), (2, 2, 1.0), (2, 0, 0.5)]
    for _ in range(3):
        ours, theirs = ([Account(name, 5.0 + k) for k, name in enumerate("abc")] for _ in range(2))
        for _ in range(2):
            assert lifted(ours, transfers, rates) == settle(theirs, transfers, rates)
            assert state(ours) == state(theirs)
    unset = Account("d", 1.0)
    del unset.history
    for function in (lifted, settle):
        with pytest.raises(AttributeError):
            function([Account("a", 9.0), copy.copy(unset)], [(0, 1, 1.0)], rates)


class Cell:
    def __init__(self, weight, scale):
        self.weight, self.scale, self.last, self.calls = weight, scale, None, 0

    def step(self, state, x):
        self.calls += 1
        self.last = state * self.weight + x * self.scale
        return self.last


def run_cell(cell, xs):
    states = {0: xs[0]}
    for k in range(1, len(xs)):
        states[k] = cell.step(states[k - 1], xs[k])
    return states[len(xs) - 1]


@pytest.mark.parametrize("asks", [False, True])
def test_objects_that_hold_tensors(asks):
    lifted = lift(run_cell, verify="off")
    for count in (4, 1, 3, 6):
        cells = [Cell(torch.tensor(0.5, dtype=torch.float64, requires_grad=asks), 2.0) for _ in range(2)]
        xs = torch.arange(count + 1.0, dtype=torch.float64)
        got, wanted = lifted(cells[0], xs), run_cell(cells[1], xs)
        torch.testing.assert_close(got, wanted)
        assert cells[0].calls == cells[1].calls
        torch.testing.assert_close(cells[0].last, cells[1].last)
        if asks and wanted.requires_grad:
            got.backward()
            wanted.backward()
            torch.testing.assert_close(cells[0].weight.grad, cells[1].weight.grad)


def gather(node, totals):
    while node is not None:
        if node.value is None:
            node = node.left
            continue
        totals[node.value] += node.feature
        node = node.right
    return totals


def test_rows_that_objects_hold_stay_theirs():
    lifted = lift(gather, verify="off")
    for _ in range(3):
        rows = [torch.full((2,), float(k)) for k in range(3)]
        chain = Node(rows[0], value=1, right=Node(left=Node(rows[1], value=0, right=Node(rows[2], value=1))))
        got, wanted = lifted(chain, torch.zeros(2, 2)), gather(chain, torch.zeros(2, 2))
        assert torch.equal(got, wanted)
        assert chain.feature is rows[0]
        assert torch.equal(rows[2], torch.full((2,), 2.0))
