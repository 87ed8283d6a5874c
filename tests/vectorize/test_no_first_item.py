"""Names that the first iteration gives a value, in loops some of which have no iteration."""

import pytest
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference


def greatest_of_neighbours(x, neighbours):
    found = []
    for row in neighbours:
        best = None
        for k in row:
            m = torch.tanh(x[k])
            if best is None:
                best = m
            else:
                best = torch.maximum(best, m)
        if best is None:
            best = torch.zeros(x.shape[1])
        found.append(best)
    return torch.stack(found)


def greatest_where_there_are_some(x, neighbours):
    out = torch.zeros(len(neighbours), x.shape[1])
    for i in range(len(neighbours)):
        best = None
        for k in neighbours[i]:
            best = x[k] if best is None else torch.maximum(best, x[k])
        if best is not None:
            out[i] = 2 * best
    return out


def last_states(x, neighbours):
    out = []
    for row in neighbours:
        h = None
        for k in row:
            h = torch.sin(x[k]) if h is None else torch.sin(x[k] + h)
        out.append(x[0] if h is None else h)
    return torch.stack(out)


def least_numbers(x, neighbours):
    out = []
    for row in neighbours:
        least = None
        for k in row:
            value = x[k, 0]
            if least is None or value < least:
                least = value
        out.append(torch.tensor(-1.0) if least is None else least)
    return torch.stack(out)


PROGRAMS = [greatest_of_neighbours, greatest_where_there_are_some, last_states, least_numbers]
SOME_EMPTY = [[1, 2], [], [3], [4, 0, 2], [], [5, 5]]
FIRST_EMPTY = [[], [1, 2], [0, 3, 4]]
NONE_EMPTY = [[1, 2], [3], [4, 0, 2]]


def decisions_of(program):
    return {"lanes", "sequential"} if program in (last_states, least_numbers) else {"lanes"}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_lists_without_items(program):
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    calls = [x, NONE_EMPTY], [x, SOME_EMPTY], [x, FIRST_EMPTY]
    check(program, *calls, gradients=False, decisions=decisions_of(program))


@pytest.mark.parametrize("program", PROGRAMS[:3], ids=lambda p: p.__name__)
def test_gradients_of_lists_without_items(program):
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    lifted = lift(program, verify="off", backend="torch")
    for neighbours in (NONE_EMPTY, SOME_EMPTY, SOME_EMPTY):
        got, wanted = (outcome(one, [x, neighbours], gradients=True) for one in (lifted, program))
        assert not difference(got, wanted, magnitude=1.0)
    assert {loop.decision for loop in lifted.report().loops} == decisions_of(program)


def features_of_pairs(x, edges):
    out = []
    for i in range(3):
        total = torch.zeros(2)
        for j in range(3):
            if (i, j) in edges:
                total = total + edges[(i, j)] * x[j]
        out.append(total)
    return torch.stack(out)


def test_a_pair_of_numbers_that_is_no_key():
    x = torch.randn(3, 2, generator=torch.Generator().manual_seed(0))
    pairs = [(2, 1), (0, 1), (1, 2)]
    check(features_of_pairs, [x, {pair: float(k) for k, pair in enumerate(pairs)}])
