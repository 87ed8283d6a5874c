"""Dicts with default values of the caller, read under known keys: the loop's values, gradients, and what it puts in."""

import copy
from collections import OrderedDict, defaultdict
from typing import Any

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def each_group(groups, x, nets):
    out = [torch.zeros_like(x[0]) for _ in range(len(x))]
    for k, net in enumerate(nets):
        for place, weight in groups[k]:
            out[place] = out[place] + weight * net(x[place])
    return torch.stack(out)


def one_group(groups, x, nets):
    total = torch.zeros(x.shape[1])
    for place, weight in groups[1]:
        total = total + x[place] * weight
    return total


def changed_before(groups, x, nets):
    groups[1] = [(0, 2.0)]
    total = torch.zeros(x.shape[1])
    for place, weight in groups[1]:
        total = total + x[place] * weight
    return total


def filled_before(groups, x, nets):
    """The list that a loop changes place by place is made behind a loop that stays."""
    seen = defaultdict(list)
    for place, row in enumerate(x):
        for k in torch.softmax(row, 0).topk(2).indices.tolist():
            if len(seen[k]) < 2:
                seen[k].append(place)
    sums = [torch.zeros_like(x[0]) for _ in range(len(x))]
    for k, net in enumerate(nets):
        for place, weight in groups[k]:
            sums[place] = sums[place] + weight * net(x[place])
    return torch.stack([row + len(seen) for row in sums])


GROUPS: dict[Any, Any] = {0: [(1, 0.5), (2, -1.0)], 1: [(0, 2.0), (1, 1.5)], 2: [(3, 0.25)]}
FUNCTIONS = [each_group, one_group, changed_before, filled_before]


def given(kind: str, missing: tuple[int, ...]) -> Any:
    held = {key: copy.deepcopy(value) for key, value in GROUPS.items() if key not in missing}
    return {"default": defaultdict(list, held), "ordered": OrderedDict(held), "plain": held}[kind]


def called(function: Any, kind: str, missing: tuple[int, ...], gradients: bool) -> Any:
    torch.manual_seed(0)
    x, nets = torch.randn(4, 3).requires_grad_(gradients), torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in "abc"])
    groups = given(kind, missing)
    try:
        result = function(groups, x, nets)
    except KeyError as error:
        return str(error), groups
    result.sum().backward() if result.requires_grad else None
    return result, groups, x.grad, [one.grad for one in nets.parameters()]


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("kind", ["default", "ordered"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_answers_are_the_loops(function, kind, gradients, backend):
    lifted = lift(function, verify="off", backend=backend)
    for missing in ((), (1,), (), (0, 2)):
        got = called(lifted, kind, missing, gradients)
        assert difference(got, called(function, kind, missing, gradients)) is None, missing


def test_a_key_that_is_not_there_is_put_in_by_the_loop_alone():
    lifted = lift(one_group, verify="off", backend="torch")
    called(lifted, "default", (), True)
    groups = given("default", (1,))
    assert list(groups) == [0, 2]
    lifted(groups, torch.zeros(4, 3), None)
    assert dict(groups) == {0: GROUPS[0], 2: GROUPS[2], 1: []}


@pytest.mark.parametrize("function", [each_group, one_group], ids=lambda function: function.__name__)
def test_groups_are_lanes(function):
    lifted = lift(function, verify="off", backend="torch")
    called(lifted, "default", (), True)
    assert lifted.report().loops[-1].decision == "lanes"


def test_lists_stay_with_the_loop_that_changes_them():
    lifted = lift(filled_before, verify="off", backend="torch")
    called(lifted, "plain", (), False)
    assert [entry.decision for entry in lifted.report().loops][2:] == ["lanes", "sequential", "lanes", "lanes"]
