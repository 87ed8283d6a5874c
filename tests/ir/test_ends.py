"""Dicts that loops fill are measured, gone through and read at other keys; extremes of what ranges count are ends."""

from typing import Any

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def measured_by_its_keys(x, w):
    """The extents of a table come from its keys, in a helper that sees the table alone."""
    out = []
    for row in x:
        near = {}
        for i, weight in enumerate(w):
            for j in range(row.shape[0]):
                near[i, j] = weight * row[j]
        out.append(_trace(near))
    return torch.stack(out)


def _trace(table):
    height, width = max(i for i, _ in table) + 1, 1 + max(j for _, j in table)
    total = torch.zeros(())
    for i in range(height):
        for j in range(width):
            total = total + table[i, j] * (i + 2 * j)
    return total + len(table)


def gone_through_and_read_elsewhere(x, w):
    out = []
    for row in x:
        near = {}
        for j in range(row.shape[0]):
            near[j] = row[j] ** 2
        total = torch.zeros(())
        for k, v in near.items():
            total = total + v * k * near[0]
        out.append(total - near[row.shape[0] - 1])
    return torch.stack(out)


def bound_anew(x, w):
    """A dict of a loop's own, whose name the loop binds in each iteration."""
    out = []
    for i in range(x.shape[0]):
        seen = {}
        for j in range(w.shape[0]):
            seen[j] = torch.exp(x[i].sum() * w[j])
        out.append(seen[0] + seen[1])
    return torch.stack(out)


def ends_of_places(x, w):
    places, others = [], []
    for i in range(x.shape[0]):
        for j in range(3):
            places.append(i)
            others.append(j)
    return x[max(places)] * max(others) + x[min(places)], max(places) + 1


def chosen_places(x, w):
    places = []
    for i in range(x.shape[0]):
        if w[i] > 0:
            places.append(i)
    return x[max(places)], max(places), min(places)


def other_numbers(x, w):
    places = []
    for i in range(x.shape[0]):
        places.append(i % 2)
    places.append(4)
    return x[max(places)], min(places)


def read_meanwhile(x, w):
    places, total = [], 0
    for i in range(x.shape[0]):
        places.append(i)
        total = total + x[i, 0] * max(places)
    return total


def called(function: Any, gradients: bool, size: int) -> Any:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(5, size, generator=generator).requires_grad_(gradients)
    w = torch.tensor([0.5, 2.0, -1.0, 2.0, 0.25]).requires_grad_(gradients)
    try:
        result = function(x, w)
    except (ValueError, KeyError, RuntimeError) as error:
        return type(error), str(error)
    first = result[0] if isinstance(result, tuple) else result
    if first.requires_grad:
        first.sum().backward()
    return result, x.grad, w.grad


LIFTED = [measured_by_its_keys, gone_through_and_read_elsewhere, bound_anew]
OTHERS = [ends_of_places, chosen_places, other_numbers, read_meanwhile]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("function", LIFTED + OTHERS, ids=lambda function: function.__name__)
def test_answers_are_the_loops(function, gradients, backend):
    lifted = lift(function, verify="off", backend=backend)
    for size in (3, 4, 3):
        assert difference(called(lifted, gradients, size), called(function, gradients, size)) is None


@pytest.mark.parametrize("function", [measured_by_its_keys, gone_through_and_read_elsewhere])
def test_extremes_and_items_of_nothing_raise(function):
    lifted = lift(function, verify="off", backend="torch")
    for size in (3, 0, 3):
        assert difference(called(lifted, True, size), called(function, True, size)) is None


@pytest.mark.parametrize("function", LIFTED, ids=lambda function: function.__name__)
def test_dicts_are_lanes(function):
    lifted = lift(function, verify="off", backend="torch")
    called(lifted, True, 3)
    assert {entry.decision for entry in lifted.report().loops if entry.function == function.__name__} == {"lanes"}


def test_ends_need_no_list():
    lifted = lift(measured_by_its_keys, verify="off", backend="torch")
    called(lifted, True, 3)
    assert ".amax(" not in lifted.source and "max(" not in lifted.source


def test_a_range_to_a_tensor_counts_integers():
    def greatest(x, n):
        places = []
        for i in range(n):
            places.append(i)
        return max(places) + 1, x * max(places)

    lifted = lift(greatest, verify="off")
    for _ in range(2):
        assert difference(lifted(torch.ones(2), torch.tensor(3)), greatest(torch.ones(2), torch.tensor(3))) is None
