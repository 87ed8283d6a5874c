"""Numbers of the host beside tensors, which differ from call to call: all calls share a batch and keep their dtypes."""

from __future__ import annotations

import math

import pytest
import torch
from tests.waves.harness import batched, check, check_values
from torch import nn

import looplift


def walked(tree, layer):
    return torch.tanh(layer(tree[0])) if len(tree) == 1 else walked(tree[1:], layer)


def scaled(trees, numbers, layer):
    return [walked(tree, layer) / numbers[k] for k, tree in enumerate(trees)]


def other_side(trees, numbers, layer):
    return [numbers[k] - walked(tree, layer) * numbers[k] for k, tree in enumerate(trees)]


def over(trees, numbers, layer):
    return [numbers[k] / (walked(tree, layer) + 2) for k, tree in enumerate(trees)]


def over_integers(trees, numbers, layer):
    return [numbers[k] / ((walked(tree, layer) * 9).long() + 20) for k, tree in enumerate(trees)]


def by_length(trees, numbers, layer):
    return [walked(tree, layer).sum() / math.sqrt(len(tree) + 1) for tree in trees]


def of_integers(trees, numbers, layer):
    return [(walked(tree, layer) > 0).long() * numbers[k] for k, tree in enumerate(trees)]


def of_narrow_integers(trees, numbers, layer):
    return [(walked(tree, layer) > 0).int() * numbers[k] for k, tree in enumerate(trees)]


def of_doubles(trees, numbers, layer):
    return [walked(tree, layer).double() + numbers[k] for k, tree in enumerate(trees)]


def of_halves(trees, numbers, layer):
    return [walked(tree, layer).half() * numbers[k] for k, tree in enumerate(trees)]


def over_halves(trees, numbers, layer):
    return [numbers[k] / (walked(tree, layer).half() + 2) for k, tree in enumerate(trees)]


def over_narrow_integers(trees, numbers, layer):
    return [numbers[k] / ((walked(tree, layer) * 9).int() + 20) for k, tree in enumerate(trees)]


def powers(trees, numbers, layer):
    return [walked(tree, layer).abs() ** numbers[k] for k, tree in enumerate(trees)]


NUMBERS = (
    [2.0, 0.5, 3.0, 7.0],
    [2, 3, 4, 5],
    [2, 0.5, 3, 1e-3],
    [True, 2, 0.5, False],
    [float("inf"), -0.0, float("nan"), 1e300],
    [2**40, 1, -3, 0],
)
FUNCTIONS = (scaled, other_side, over, over_integers, by_length, of_integers, of_doubles)


def trees_of(*lengths):
    torch.manual_seed(0)
    return [tuple(torch.randn(4) for _ in range(length)) for length in lengths]


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_numbers(function, numbers):
    layer = nn.Linear(4, 4)
    if function is other_side and True in numbers and type(numbers[0]) is bool:
        with pytest.raises(RuntimeError, match="bool"):  # as the loop does; then the loop runs
            batched(function, trees_of(2, 1, 3, 1), numbers, layer)(trees_of(2, 1, 3, 1), numbers, layer)
        return
    arguments = trees_of(2, 1, 3, 1), numbers, layer
    others = trees_of(1, 1), numbers[:2], layer
    if all(number and math.isfinite(number) for number in numbers):
        check(function, *arguments, others=(others,))
    else:
        lifted = batched(function, *arguments)
        check_values(lifted, function, *arguments)
        check_values(lifted, function, *others)


@pytest.mark.parametrize("function", (of_narrow_integers, of_halves, over_halves, over_narrow_integers, powers))
def test_other_kinds(function):
    """For these numbers keep their own rules: the calls are parted by number, or the loop runs."""
    arguments = trees_of(2, 1, 3, 1), [2, 3, 2, 3], nn.Linear(4, 4)
    try:
        found = batched(function, *arguments)(*arguments)
    except NotImplementedError:
        return
    for got, want in zip(found, function(*arguments)):
        assert got.dtype == want.dtype
        torch.testing.assert_close(got, want)


def test_they_share_a_batch():
    text = check(scaled, trees_of(2, 1, 3, 1), [2.0, 0.5, 3.0, 7.0], nn.Linear(4, 4)).source
    assert "waves.weak" in text and "lanes=True" in text


class Leaf:
    def __init__(self, x, number, inner=None):
        self.x, self.number, self.inner = x, number, inner


def quotient(leaf):
    return quotient(leaf.inner) if leaf.inner is not None else torch.floor(leaf.number / torch.relu(leaf.x))


def quotients(leaves):
    return [quotient(leaf) for leaf in leaves]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_numbers_by_tensors_are_rounded_as_pytorch_rounds_them(backend):
    """A number by a tensor is its reciprocal times the number: ``41 / 41.`` is less than 1."""
    numbers = [41, 47, 55, 61, 0.5, 49.0]
    leaves = [Leaf(torch.full((3,), float(number)), number) for number in numbers]
    leaves = [leaf if k % 2 else Leaf(leaf.x, 0, leaf) for k, leaf in enumerate(leaves)]
    assert any((row < 1).all() for row in quotients(leaves))
    for found in (batched(quotients, leaves), looplift.lift(quotients, backend=backend, verify="off")):
        for got, want in zip(found(leaves), quotients(leaves), strict=True):
            assert torch.equal(got, want)


def test_quotients_share_a_batch():
    text = check(over, trees_of(2, 1, 3, 1), [2.0, 0.5, 3.0, 7.0], nn.Linear(4, 4)).source
    assert "reciprocal()" in text and "waves.weak" in text and "lanes=True" in text
