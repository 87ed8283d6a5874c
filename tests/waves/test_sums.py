"""Sums that a loop goes on with, in waves: all that is added is known before any sum, which is one addition."""

from __future__ import annotations

import pytest
import torch
from tests.waves.harness import check, check_values
from torch import nn


def walked(tree, layer):
    """A routine that the IR has no form for, so that the loops below are run in waves."""
    return torch.tanh(layer(tree[0])) if len(tree) == 1 else walked(tree[1:], layer)


def from_number(trees, layer):
    total = 0
    for tree in trees:
        total = total + walked(tree, layer)
    return total


def from_zeros(trees, layer):
    total = torch.zeros(4)
    for tree in trees:
        total += walked(tree, layer)
    return total


def other_order(trees, layer):
    total = torch.ones(4)
    for tree in trees:
        total = walked(tree, layer) + total
    return total


def of_one_element(trees, layer):
    total = torch.zeros(1)
    for tree in trees:
        total = total + walked(tree, layer).sum()
    return total


def grown(trees, layer):
    total = torch.zeros(())
    for tree in trees:
        total = total + walked(tree, layer) * 2
    return total


def wider_dtype(trees, layer):
    total = torch.zeros(4)
    for tree in trees:
        total = total + walked(tree, layer).double()
    return total


def running(trees, layer):
    total, found = torch.zeros(4), []
    for tree in trees:
        total = total + walked(tree, layer)
        found.append(total)
    return found


def at_places(trees, layer):
    totals = [torch.zeros(4) for _ in range(3)]
    for k, tree in enumerate(trees):
        totals[k % 3] = totals[k % 3] + walked(tree, layer)
    return totals


def by_key(trees, layer):
    totals = {}
    for k, tree in enumerate(trees):
        if k % 3 not in totals:
            totals[k % 3] = walked(tree, layer)
        else:
            totals[k % 3] = totals[k % 3] + walked(tree, layer)
    return totals


def of_levels(trees, layer):
    """What is added is deeper from step to step, and then shallow again."""
    total = torch.zeros(4)
    for tree in trees:
        value = walked(tree, layer)
        for _ in tree:
            value = torch.tanh(value)
        total = total + value
    return total


def read_now_and_then(trees, layer):
    total, found = torch.zeros(4), []
    for k, tree in enumerate(trees):
        total = total + walked(tree, layer)
        if k % 3 == 1:
            found.append(torch.sigmoid(total))
    return total, found


def branching(trees, layer):
    first = torch.zeros(4)
    for tree in trees:
        first = first + walked(tree, layer)
    second = first
    for tree in trees:
        second = second + walked(tree, layer) * 2
    third = first
    for tree in trees:
        third = third + walked(tree, layer) * 3
    return first, second, third


def two_updates(trees, layer):
    total = torch.zeros(4)
    for tree in trees:
        total = total + walked(tree, layer)
        total = total + walked(tree, layer) * 2
    return total


def nested(trees, layer):
    found, total = [], torch.zeros(4)
    for tree in trees:
        for item in tree:
            total = total + torch.tanh(layer(item)) * walked(tree, layer)
        found.append(total * 2)
    return torch.stack(found)


def doubled(trees, layer):
    total = torch.ones(4)
    for tree in trees:
        total = total + total * walked(tree, layer)
    return total


def decided(trees, layer):
    total = torch.zeros(())
    for tree in trees:
        total = total + walked(tree, layer).sum()
        if total > 0:
            total = total + 1.0
    return total


def in_a_loop_that_asks(trees, layer):
    total, count = torch.zeros(()), 0
    for tree in trees:
        total = total + walked(tree, layer).sum()
    while total > -3:
        total = total - 1.0
        count += 1
    return total, count


def of_a_given_tensor(trees, layer):
    total = trees[0][0]
    for tree in trees:
        total = total + walked(tree, layer)
    return total


def of_integers(trees, layer):
    total = torch.zeros(4, dtype=torch.int64)
    for tree in trees:
        total = total + (walked(tree, layer) > 0).long()
    return total


def of_truths(trees, layer):
    total = torch.zeros(4, dtype=torch.bool)
    for tree in trees:
        total = total | (walked(tree, layer) > 0)
    return total


def over_the_whole(trees, layer):
    found = []
    for tree in trees:
        total = torch.zeros(4)
        for item in tree:
            total = total + layer(item)
        found.append(total / len(tree) + walked(tree, layer))
    return torch.stack(found)


FUNCTIONS = (
    from_number, from_zeros, other_order, of_one_element, grown, wider_dtype, running, at_places, by_key, of_levels,
    read_now_and_then, branching, two_updates, nested, doubled, decided, in_a_loop_that_asks, of_a_given_tensor,
    of_integers, of_truths, over_the_whole,
)  # fmt: skip


def trees_of(*lengths, infinite=False):
    made = [tuple(torch.randn(4) for _ in range(length)) for length in lengths]
    if infinite:
        made[-1] = (torch.full((4,), float("inf")), *made[-1][1:])
    return made


@pytest.mark.parametrize("function", FUNCTIONS)
def test_sums(function):
    torch.manual_seed(0)
    layer = nn.Linear(4, 4)
    others = [(trees_of(1), layer), (trees_of(3, 1), layer), (trees_of(2, 2, 5, 1, 1, 4, 3), layer)]
    lifted = check(function, trees_of(2, 1, 3, 1), layer, others=tuple(others))
    check_values(lifted, function, trees_of(2, 2, 5, 1, 1, 4, 3, infinite=True), layer)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_sums_of_leaves(function):
    """Leaves that ask for gradients, of some trees only: none of the others gets zeros."""
    torch.manual_seed(0)
    layer = nn.Linear(4, 4).requires_grad_(False)
    trees = trees_of(2, 1, 3, 1)
    leaves = [item.requires_grad_(k % 2 == 0) for k, tree in enumerate(trees) for item in tree]
    check(function, trees, layer, leaves=leaves)


def test_one_addition_for_all():
    """However long the list is, one sum is made of it."""
    torch.manual_seed(0)
    lifted = check(from_zeros, trees_of(1, 1), nn.Linear(4, 4))
    assert "sums=True" in lifted.source
    with torch.autograd.profiler.profile() as profile:
        lifted(trees_of(*[1] * 50), nn.Linear(4, 4))
    added = [event for event in profile.key_averages() if event.key in ("aten::add", "aten::index_add")]
    assert sum(event.count for event in added) <= 3
