"""Sizes of tensors that the loop computes: beside tensors they wait for no value, and lists tell how many rows."""

import math

import pytest
import torch
from tests.waves.harness import batched, check
from torch import nn

from looplift import lift

WIDTH = 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf, self.query, self.key = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def attended(self, tree):
        if isinstance(tree, torch.Tensor):
            return self.leaf(tree)
        states = [self.attended(part) for part in tree]
        query = self.query(states[-1])
        scores = torch.stack([query @ self.key(h) / math.sqrt(query.shape[-1]) for h in states])
        total = torch.zeros(query.shape[0])
        for weight, h in zip(torch.softmax(scores, dim=0), states):
            total = total + weight * h
        return total

    def scaled(self, tree):
        if isinstance(tree, torch.Tensor):
            return self.leaf(tree)
        left, right = self.scaled(tree[0]), self.scaled(tree[-1])
        return (left + right) / left.size(0) ** 0.5 + -left.size(-1) * right * (1 / len(left))

    def matrices(self, tree):
        if isinstance(tree, torch.Tensor):
            return self.leaf(torch.stack([tree, 2 * tree, -tree]))
        left, right = self.matrices(tree[0]), self.matrices(tree[-1])
        return (left @ right.t() @ right) / left.shape[0] - right.shape[1] * 0.1

    def by_name(self, tree):
        if isinstance(tree, torch.Tensor):
            return self.leaf(tree)
        left, right = self.by_name(tree[0]), self.by_name(tree[-1])
        scale = 1 / math.sqrt(left.shape[0])
        return torch.tanh(left * scale + right)

    def rows_beside(self, tree):
        if isinstance(tree, torch.Tensor):
            return self.leaf(tree)
        states = [self.rows_beside(part) for part in tree]
        table = torch.stack([self.query(h) for h in states])
        total = torch.zeros(WIDTH)
        for k, (row, other, h) in enumerate(zip(table, self.key(table), states)):
            total = total + torch.tanh(row * other + h) * k
        for h, number in zip(states, self.key(states[0])):
            total = total + h * number
        return total


def trees_of(*shapes):
    def grown(shape):
        return torch.randn(WIDTH) if shape == 0 else tuple(map(grown, shape))

    torch.manual_seed(len(shapes))
    return [grown(shape) for shape in shapes]


SHAPES = [((0, 0), 0), 0, (0, (0, (0, 0, 0))), (0,), 0]


def attended(model, trees):
    return torch.stack([model.attended(tree) for tree in trees])


def scaled(model, trees):
    return torch.stack([model.scaled(tree) for tree in trees])


def matrices(model, trees):
    return torch.stack([model.matrices(tree) for tree in trees])


def by_name(model, trees):
    return torch.stack([model.by_name(tree) for tree in trees])


def rows_beside(model, trees):
    return torch.stack([model.rows_beside(tree) for tree in trees])


@pytest.mark.parametrize("program", [attended, scaled, matrices, by_name, rows_beside], ids=lambda one: one.__name__)
def test_as_the_loop(program):
    others = ((Model(), trees_of(0)), (Model(), trees_of((0, 0), 0)), (Model(), trees_of(*SHAPES * 2)))
    check(program, Model(), trees_of(*SHAPES), others=others)


def test_nothing_waits():
    for program in (attended, scaled, matrices):
        assert ".value(" not in batched(program, Model(), trees_of(*SHAPES)).source.split("def region")[1]


def sums_of_rows(model, trees):
    found = []
    for tree in trees:
        total = torch.zeros(())
        for row, part in zip(model.matrices(tree), tree):
            total = total + row.sum() * part.sum()
        found.append(total)
    return torch.stack(found)


@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_lists_that_are_longer_than_a_tensor(count):
    """A stack of three rows beside lists of fewer and of more items."""
    lifted, model = lift(sums_of_rows), Model()
    for counts in ((1, 2), (count, 2), (2, count)):
        trees = trees_of(*[(0,) * max(one, 1) for one in counts])
        for _ in range(2):
            torch.testing.assert_close(lifted(model, trees), sums_of_rows(model, trees))


def of_no_dimension(model, trees):
    return torch.stack([model.leaf(tree).sum() / model.leaf(tree).sum().shape[0] for tree in trees])


def named_without_dimension(model, trees):
    found = []
    for tree in trees:
        total = model.attended(tree).sum()
        found.append(total / total.shape[0])
    return torch.stack(found)


@pytest.mark.parametrize("program", [of_no_dimension, named_without_dimension], ids=lambda one: one.__name__)
def test_a_size_that_is_not_there(program):
    lifted = lift(program)
    for _ in range(2):
        with pytest.raises(IndexError):
            lifted(Model(), trees_of(0, 0))
