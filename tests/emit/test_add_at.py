"""Sums at places of several index tensors that may repeat, be negative, or be none at all."""

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def transitions(states, others, values):
    counts = torch.zeros(6, 4, dtype=values.dtype)
    for i in range(len(states)):
        counts[states[i], others[i]] += values[i]
    return counts


def ones(states, others, values):
    counts = torch.zeros(6, 4)
    for a, b in zip(states, others):
        counts[a, b] += 1
    return counts


def into_an_argument(states, others, counts):
    for i in range(len(states)):
        counts[states[i], others[i]] -= 2
    return counts


def cubes(states, others, values):
    counts = torch.ones(6, 4, 6, dtype=values.dtype)
    for i in range(len(states)):
        for j in range(2):
            counts[states[i], others[j], states[j]] += values[i] * j
    return counts


STATES, OTHERS = torch.tensor([0, 5, 0, 3, 0]), torch.tensor([1, 3, 1, 0, 2])
PLACES = [(STATES, OTHERS), (STATES - 6, OTHERS), (STATES[:2], OTHERS[:2]), (STATES.int(), OTHERS)]


@pytest.mark.parametrize("loop", [transitions, ones, cubes])
def test_sums_at_places(loop):
    check(loop, *([states, others, torch.randn(5, dtype=torch.float64)] for states, others in PLACES))
    integers = [[states, others, torch.arange(5)] for states, others in PLACES]
    check(loop, *integers, gradients=False)


def test_sums_into_an_argument_and_into_part_of_one():
    for view in (
        lambda x: x[:6, :4],
        lambda x: x[:4, :6].T,
        lambda x: x[1:7, 2:6],
        lambda x: x.view(-1)[:24].view(6, 4),
    ):
        lifted = lift(into_an_argument, verify="off", backend="torch")
        for states, others in PLACES:
            mine, wanted = torch.ones(8, 9), torch.ones(8, 9)
            lifted(states, others, view(mine))
            into_an_argument(states, others, view(wanted))
            assert torch.equal(mine, wanted)


def test_a_place_out_of_range_is_raised():
    lifted = lift(transitions, verify="off", backend="torch")
    lifted(STATES, OTHERS, torch.ones(5))
    with pytest.raises(IndexError):
        lifted(STATES, OTHERS + 2, torch.ones(5))
