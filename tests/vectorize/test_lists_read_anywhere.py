"""Lists of tensors that ask for gradients, read at places of the data: an item that no iteration takes has none."""

from __future__ import annotations

import pytest
import torch

from looplift import lift

X = torch.randn(7, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64).requires_grad_()
PLACES = [0, 1, 2, 3, 1, 0, 2]
CHOSEN = [True, False, True, True, False, False, True]


def stacked(items, places):
    return torch.stack([items[k] * X[i] for i, k in enumerate(places)])


def summed(items, places):
    total = torch.zeros(3, dtype=torch.float64)
    for i in range(len(places)):
        total = total + items[places[i]] * X[i]
    return total


def last(items, places):
    for i in range(len(places)):
        found = items[places[i]] * X[i]
    return found


def dropped(items, places):
    total = torch.zeros(3, dtype=torch.float64)
    for i in range(len(places)):
        found = items[places[i]] * X[i]
        if CHOSEN[i]:
            total = total + found
    return total


def stored(items, places):
    out = torch.zeros(5, 3, dtype=torch.float64)
    for i in range(len(places)):
        out[i % 5] = items[places[i]] * X[i]
    return out


def carried(items, places):
    state = torch.zeros(3, dtype=torch.float64)
    for k in places:
        state = torch.tanh(state + items[k] * X[k])
    return state


def left(items, places):
    total = torch.zeros(3, dtype=torch.float64)
    for i in range(len(places)):
        if i > 3:
            break
        total = total + items[places[i]] * X[i]
    return total


def first(items, places):
    out = []
    for i in range(len(places)):
        out.append(items[places[i]] * X[i])
    return out[0]


def rows(count=4, *, plain=(), same=False):
    made = [torch.linspace(k, k + 1, 3, dtype=torch.float64).requires_grad_(k not in plain) for k in range(count)]
    return [*made[:-1], made[0]] if same else made


ARGUMENTS = [
    (rows(), PLACES), (rows(6), PLACES), (rows(), [0, 1, 2, -1, -4, 0, 3]), (rows(), [3, 3, 2, 1, 0, 0, 1]),
    (rows(), [0, 1, 9]), (rows(plain=(2,)), PLACES), (rows(same=True), PLACES), (rows(), [0]), (rows(1), [0, 0, 0]),
]  # fmt: skip


def outcome(function, items, places):
    leaves = list({id(one): one for one in [X, *items] if one.requires_grad}.values())
    try:
        result = function(items, places)
    except IndexError as error:
        return str(error)
    weights = torch.linspace(1, 2, result.numel()).view_as(result)
    return result, *torch.autograd.grad((result * weights).sum(), leaves, allow_unused=True)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [stacked, summed, last, dropped, stored, carried, left, first])
def test_items_that_are_not_taken_have_no_gradient(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for items, places in ARGUMENTS:
        wanted, found = outcome(function, items, places), outcome(lifted, items, places)
        assert isinstance(wanted, str) == isinstance(found, str)
        if isinstance(wanted, str):
            assert wanted == found
            continue
        for one, other in zip(wanted, found, strict=True):
            assert (one is None) == (other is None)
            assert one is None or torch.allclose(one, other)


def test_lists_of_which_all_are_taken_are_lanes():
    for function in (stacked, summed):
        lifted = lift(function, verify="off", backend="torch")
        lifted(rows(), PLACES)
        assert [loop.decision for loop in lifted.report().loops] == ["lanes"]
