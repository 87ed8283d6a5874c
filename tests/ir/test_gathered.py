"""Dicts that loops fill under their own indices and then go through: the loop's values, gradients and types."""

from typing import Any

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def values_and_items(x, w):
    out = []
    for i in range(x.shape[0]):
        near = {}
        for j in range(x.shape[0]):
            if j != i:
                near[j] = torch.dot(x[i], x[j])
        total = torch.zeros(())
        for k, v in near.items():
            total = total + v * k
        for v in near.values():
            total = total + v
        out.append(total / len(near) + sum(near.values()))
    return torch.stack(out)


def keys_of_two_parts(x, w):
    near = {}
    for j in range(x.shape[0]):
        for k in range(3):
            near[j, k] = x[j, k] * 2
    total = 0.0
    for key in near:
        a, b = key
        total = total + near[key] * (a + 2 * b)
    return total


def pairs_of_keys(x, w):
    near = {}
    for j in range(x.shape[0]):
        if w[j] > 0:
            near[j] = x[j].sum()
    total = 0.0
    for a in near:
        for b in near:
            total = total + near[a] * near[b] * (a < b)
    return total


def comprehension(x, w):
    near = {j: x[j].sum() for j in range(x.shape[0]) if w[j] > 0}
    total = 0.0
    for a, v in near.items():
        total = total + v * a
    return total, len(near)


def largest_of_each(x, w):
    out = []
    for i in range(x.shape[0]):
        near = {}
        for j in range(i):
            near[j] = x[i].dot(x[j])
        if not near:
            out.append(torch.zeros(()))
        else:
            out.append(torch.stack(list(near.values())).max())
    return torch.stack(out)


def contrasts(x, w):
    losses = []
    for i in range(x.shape[0]):
        near = {}
        for j in range(x.shape[0]):
            if j != i:
                near[j] = torch.dot(x[i], x[j])
        spread = torch.logsumexp(torch.stack(list(near.values())), 0)
        total, count = 0.0, 0
        for j in near:
            if w[j] == w[i]:
                total = total + (near[j] - spread)
                count += 1
        if count > 0:
            losses.append(-total / count)
    return sum(losses) / len(losses)


def filled_twice(x, w):
    near = {}
    for r in range(2):
        for j in range(x.shape[0]):
            near[j] = x[j].sum() * (r + 1)
    total = 0.0
    for k in near:
        total = total + near[k] * k
    return total, len(near)


def keys_that_repeat(x, w):
    near = {}
    for j in range(x.shape[0]):
        near[j % 3] = x[j].sum()
    total = 0.0
    for k in near:
        total = total + near[k] * k
    return total, len(near)


def one_deleted(x, w):
    near = {}
    for j in range(x.shape[0]):
        near[j] = x[j].sum()
    del near[2]
    total = 0.0
    for k in near:
        total = total + near[k] * k
    return total


def changed_on_the_way(x, w):
    near = {}
    for j in range(x.shape[0]):
        near[j] = x[j].sum()
    for k in near:
        near[k] = near[k] * 2
    total = 0.0
    for k in near:
        total = total + near[k] * k
    return total


def backwards(x, w):
    near = {}
    for j in range(5, -1, -2):
        near[j] = x[j]
    out = []
    for k in near:
        out.append(near[k] * k)
    return torch.stack(out), list(near.keys())


def no_list(x, w):
    near = {}
    for j in range(x.shape[0]):
        near[j] = x[j]
    return torch.stack(near.values())


def called(function: Any, gradients: bool, weights: list[float]) -> Any:
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0)).requires_grad_(gradients)
    try:
        result = function(x, torch.tensor(weights))
    except TypeError as error:
        return str(error)
    first = result[0] if isinstance(result, tuple) else result
    if first.requires_grad:
        first.sum().backward()
    return result, x.grad


LIFTED = [values_and_items, keys_of_two_parts, pairs_of_keys, comprehension, largest_of_each, contrasts]
OTHERS = [filled_twice, keys_that_repeat, one_deleted, changed_on_the_way, backwards, no_list]


@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("function", LIFTED + OTHERS, ids=lambda function: function.__name__)
def test_dicts_are_the_loops(function, gradients):
    for weights in ([0.5, 2.0, -1.0, 2.0, 7.0, 0.5], [1.0] * 6):
        lifted = lift(function, verify="off")
        for _ in range(2):
            assert difference(called(lifted, gradients, weights), called(function, gradients, weights)) is None


@pytest.mark.parametrize("function", LIFTED, ids=lambda function: function.__name__)
def test_dicts_that_are_gone_through_are_lists(function):
    lifted = lift(function, verify="off", backend="torch")
    called(lifted, False, [0.5, 2.0, -1.0, 2.0, 7.0, 0.5])
    assert {entry.decision for entry in lifted.report().loops} == {"lanes"}


def test_entries_are_found_once():
    """A loop over the items that an ``if`` chose is one over all of them, under the same mask."""
    lifted = lift(contrasts, verify="off", backend="torch")
    called(lifted, True, [1.0] * 6)
    assert "torch.nonzero(" not in lifted.source
