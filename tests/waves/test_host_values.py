"""What the host computes, waits for, picks and makes itself, beside the points."""

import random

import pytest
import torch
from harness import batched, check, program_of
from torch import nn

from looplift.base.errors import NotLiftable

WIDTH = 3


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, WIDTH)
        self.lin = nn.Linear(WIDTH, WIDTH)
        self.gru = nn.GRUCell(WIDTH, WIDTH)


def attention(model, x, neighbours):
    h = model.lin(x)
    out = []
    for i in range(len(neighbours)):
        scores = torch.stack([torch.dot(h[i], h[j]) for j in neighbours[i]] + [h[i, 0]])
        weights = torch.softmax(scores, 0)
        total = weights[-1] * h[i]
        for k, j in enumerate(neighbours[i]):
            total = total + weights[k] * h[j]
        out.append(total)
    return torch.stack(out)


def rounds(model, x, neighbours):
    for _ in range(3):
        rows = []
        for i in range(len(neighbours)):
            message = torch.zeros(WIDTH)
            for j in neighbours[i]:
                message = message + x[j]
            rows.append(model.gru(message.unsqueeze(0), x[i].unsqueeze(0)).squeeze(0))
        x = torch.stack(rows)
    return x


def by_first_sign(model, x, neighbours):
    out = []
    for i, row in enumerate(x):
        if row[0] > 0:
            out.append(model.lin(row))
        else:
            out.append(model.gru(row, x[neighbours[i][0]] if neighbours[i] else row))
    return torch.stack(out)


def by_computed_sign(model, x, neighbours):
    out = []
    for row in x:
        h = model.lin(row)
        while h.sum() > 0 and len(out) < 20:
            h = h - 1
        out.append(h)
    return torch.stack(out)


def over_a_computed_matrix(model, x, neighbours):
    h = torch.tanh(model.lin(x))
    total = 0
    for row, other in zip(h, reversed(neighbours)):
        total = total + row.sum() * len(other) / h.shape[0]
    return total


def graphs(seed, count):
    torch.manual_seed(seed)
    rng = random.Random(seed)
    neighbours = [[j for j in range(count) if rng.random() < 0.4] for _ in range(count)]
    return Model(), torch.randn(count, WIDTH), neighbours


@pytest.mark.parametrize(
    "program",
    [attention, rounds, by_first_sign, by_computed_sign, over_a_computed_matrix],
    ids=lambda one: one.__name__,
)
@pytest.mark.parametrize("asks", [False, True])
def test_graphs(program, asks):
    def given(seed, count):
        model, x, neighbours = graphs(seed, count)
        return model, x.requires_grad_(asks), neighbours

    first = given(0, 5)
    check(program, *first, others=(given(1, 7), given(2, 2), given(3, 1)), leaves=None if not asks else [first[1]])


def last_rows(model, items):
    out = []
    for x in items:
        h = model.lin(x)
        out.append(torch.cat([h[-1], h[len(x) // 2], x[-len(x)]]))
    return torch.stack(out)


def test_places_of_tensors_of_several_lengths():
    def given(*lengths):
        return Model(), [torch.randn(length, WIDTH) for length in lengths]

    check(last_rows, *given(3, 5, 1, 3), others=(given(1), given(2, 2, 7)))


def picks(model, items, places):
    h = model.lin(items)
    return torch.stack([h[k] * 2 for k in places])


def test_places_that_are_none_raise():
    lifted = batched(picks, Model(), torch.randn(3, WIDTH), [0, -1, 2])
    for places in ([3], [-4], [True], ["a"]):
        with pytest.raises(Exception):  # the caller then runs the loop
            lifted(Model(), torch.randn(3, WIDTH), places)


class Node:
    def __init__(self, word, children=()):
        self.word, self.children = word, list(children)

    @property
    def is_leaf(self):
        return not self.children

    @property
    def size(self):
        return 1 + sum(child.size for child in self.children)


def encode(model, node):
    if node.is_leaf:
        return model.emb(torch.tensor([node.word]))[0]
    return torch.tanh(model.lin(sum([encode(model, child) for child in node.children]))) / node.size


def encoded(model, trees):
    return torch.stack([encode(model, tree) for tree in trees])


def test_properties_and_tensors_of_lists():
    trees = [Node(1, [Node(2), Node(3, [Node(4)])]), Node(5)]
    check(encoded, Model(), trees, others=((Model(), trees[:1]), (Model(), [Node(0, [Node(0), Node(0)])])))


class Counting:
    """A property that changes its object."""

    def __init__(self):
        self.before = []

    @property
    def next(self):
        self.before.append(0)
        return len(self.before)


def counts(model, items):
    return [model.lin(model.emb.weight[item.next]) for item in items]


def test_a_property_with_effects_is_refused():
    with pytest.raises(NotLiftable):
        program_of(counts, Model(), [Counting()])
