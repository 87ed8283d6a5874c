"""Updates in place of a tensor that has two names: by a chained or an annotated assignment."""

import pytest
import torch
from tests.waves.harness import check, program_of

from looplift import lift
from looplift.base.errors import NotLiftable


def walked(tree):
    return torch.tanh(tree[0]) if len(tree) == 1 else torch.tanh(walked(tree[1:]) + tree[0])


def chained(trees):
    out = []
    for tree in trees:
        first = second = torch.sigmoid(walked(tree))
        second += 1
        out.append(first * 3)
    return out


def both(tree):
    first = second = walked(tree) * 2
    first *= 3
    return first + second


def chained_inside_a_function(trees):
    return [both(tree) for tree in trees]


def chained_totals(trees):
    total = most = torch.zeros(3)
    for tree in trees:
        total += walked(tree)
    return total, most


def chained_into_a_tuple(trees):
    out = []
    for tree in trees:
        pair = first, second = walked(tree) * 2, walked(tree) * 3
        second -= first
        out.append(pair[1] * 1.5)
    return out


def annotated(trees):
    out = []
    for tree in trees:
        first = walked(tree) * 2
        second: torch.Tensor = first
        second -= 1
        out.append(first)
    return out


def annotated_but_new(trees):
    out = []
    for tree in trees:
        first: torch.Tensor = walked(tree) * 2
        first -= 1
        out.append(first * 2)
    return out


def chained_numbers(trees):
    out = []
    for tree in trees:
        first = second = 0.0
        second += walked(tree)
        out.append(second + first)
    return out


ALIASED = [chained, chained_inside_a_function, chained_totals, chained_into_a_tuple, annotated]


def arguments(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return ([[torch.randn(3, generator=generator) for _ in range(length)] for length in (1, 3, 2, 3)],)


@pytest.mark.parametrize("function", ALIASED, ids=lambda function: function.__name__)
def test_two_names_are_told(function):
    with pytest.raises(NotLiftable, match="may have another name"):
        program_of(function, *arguments())


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", ALIASED, ids=lambda function: function.__name__)
def test_updates_show_under_both_names(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for seed in range(3):
        torch.testing.assert_close(lifted(*arguments(seed)), function(*arguments(seed)))


@pytest.mark.parametrize("function", [annotated_but_new, chained_numbers], ids=lambda function: function.__name__)
def test_names_of_their_own_are_batched(function):
    check(function, *arguments())
