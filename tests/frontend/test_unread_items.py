"""Items of the caller's lists that nothing reads: they must be there all the same."""

import numpy as np
import pytest
import torch

from looplift import lift

ITEMS = {
    "words": ["a", "b"],
    "numbers": [1, 2],
    "tensors": [torch.zeros(2), torch.ones(2)],
    "lists": [[1], [2]],
    "pairs": [(1, 2), (3, 4)],
    "nothing": [None, None],
}


def by_element(places, items):
    for i in range(len(places)):
        item = items[places[i]]  # noqa: F841


def by_number(places, items):
    for i in range(len(places)):
        item = items[int(places[i])]  # noqa: F841


def beside_others(places, items):
    total = 0
    for i in range(len(places)):
        item = items[places[i]]  # noqa: F841
        total += i
    return total


def so_many(count, items):
    for i in range(count):
        item = items[i]  # noqa: F841


@pytest.mark.parametrize("items", ITEMS.values(), ids=ITEMS)
def test_more_items_than_there_are(items):
    lifted = lift(so_many, verify="off")
    for count in (2, 3, 1, 0):
        assert outcome(lifted, count, items) == outcome(so_many, count, items)


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", [torch.tensor, np.array, list])
@pytest.mark.parametrize("items", ITEMS.values(), ids=ITEMS)
@pytest.mark.parametrize("function", [by_element, by_number, beside_others])
def test_an_item_that_is_not_there_is_an_error_though_nothing_reads_it(function, items, kind):
    lifted = lift(function, verify="off")
    for places in ([0, 1], [0, 1, -2], [1, 2, 0], [0, -3]):
        assert outcome(lifted, kind(places), items) == outcome(function, kind(places), items)
