"""Classes as rows of zeros and a one: of all lanes at once, where each is one of the classes that there are."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from tests.vectorize.harness import check

from looplift import lift


def of_each(y, count):
    rows = []
    for i in range(y.shape[0]):
        rows.append(F.one_hot(y[i], count))
    return torch.stack(rows)


def of_known_ones(y, count):
    rows = torch.zeros(y.shape[0], count)
    for i in range(y.shape[0]):
        if y[i] >= 0:
            rows[i] = F.one_hot(y[i], num_classes=count)
    return rows


def of_rows(y, count):
    counts = []
    for i in range(y.shape[0]):
        counts.append(F.one_hot(y[i : i + 1], count).sum(0))
    return torch.stack(counts)


@pytest.mark.parametrize("function", [of_each, of_known_ones, of_rows])
def test_classes(function):
    check(function, [torch.tensor([2, 0, 1, 1]), 3], [torch.tensor([2, 0]), 5], gradients=False)


def test_lanes_that_do_not_run_have_any_class():
    check(of_known_ones, [torch.tensor([2, -1, 1, -7]), 3], [torch.tensor([-1, -1]), 3], gradients=False)


@pytest.mark.parametrize("function", [of_each, of_known_ones, of_rows])
@pytest.mark.parametrize(("classes", "count"), [([0, 3, 1], 3), ([0, 9, 1], 4), ([0, -1, 1], 4), ([0, 1, 1], 0)])
def test_other_classes_raise_what_the_loop_raises(function, classes, count):
    lifted = lift(function, verify="off", backend="torch")
    lifted(torch.tensor([2, 0, 1]), 3)
    try:
        wanted = function(torch.tensor(classes), count)
    except RuntimeError as error:
        with pytest.raises(RuntimeError) as raised:
            lifted(torch.tensor(classes), count)
        assert str(raised.value) == str(error)
    else:
        assert torch.equal(lifted(torch.tensor(classes), count), wanted)


def test_places_to_fill_count_from_the_end_or_raise():
    def filled(x, places):
        rows = []
        for i in range(x.shape[0]):
            rows.append(x[i].index_fill(0, places[i], 1.0))
        return torch.stack(rows)

    x = torch.zeros(2, 5)
    lifted = lift(filled, verify="off", backend="torch")
    for places in (torch.tensor([[0, 1], [3, 3]]), torch.tensor([[0, -1], [3, 3]])):
        assert torch.equal(lifted(x, places), filled(x, places))
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        lifted(x, torch.tensor([[0, 5], [3, 3]]))


def test_as_many_classes_as_each_one_asks_for():
    lifted = lift(of_rows, verify="off", backend="torch")
    lifted(torch.tensor([2, 0, 1]), 3)
    y = torch.tensor([1, 1, 1])
    assert torch.equal(lifted(y, -1), of_rows(y, -1))
