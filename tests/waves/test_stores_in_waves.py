"""Stores into tensors that a program has just made: one-hot leaves, vectors that are filled place by place."""

import re

import pytest
import torch
from tests.waves.harness import assert_same, batched, check
from torch import nn

import looplift
from looplift.base.errors import NotLiftable


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.scale = nn.Linear(5, 5), nn.Linear(5, 1)


def one_hot(model, node):
    label, children = node
    v = torch.zeros(5)
    v[label] = 1.0
    for child in children:
        v = v + torch.tanh(model.up(one_hot(model, child)))
    return v


def trees_of(model, trees):
    return torch.stack([one_hot(model, tree) for tree in trees])


def counts(model, lists):
    out = []
    for labels in lists:
        v = torch.zeros(5)
        v[labels[0]] = len(labels) + 0.5
        v[labels[-1]] = len(labels)
        out.append(torch.tanh(model.up(v)))
    return torch.stack(out)


def of_tensors(model, lists):
    out = []
    for labels in lists:
        h = torch.ones(5)
        for label in labels:
            v = torch.full((5,), 0.25)
            v[label] = model.scale(h)[0]
            if label > 2:
                v[0] = 2
            h = torch.tanh(model.up(v) * h)
        out.append(h)
    return torch.stack(out)


def of_rows(model, lists):
    out = []
    for labels in lists:
        h = torch.ones(5)
        for label in labels:
            table = torch.zeros(5, 5)
            table[label] = model.up(h)
            h = torch.tanh(table @ h)
        out.append(h)
    return torch.stack(out)


def branches(model, lists):
    out = []
    for labels in lists:
        for label in labels:
            v = torch.zeros(5)
            if label % 2:
                v[label] = 1
            else:
                v[0] = -1.5
            out.append(model.up(v))
    return torch.stack(out)


def homogeneous(model, lists):
    out = []
    for labels in lists:
        world = torch.eye(5)
        for label in labels:
            local = torch.eye(5)
            local[:4, :4] = model.up(world)[:4, :4] * 0.5 + world[:4, :4]
            local[:4, -1] = world[1, 1:] * label
            local[4, 0] = 0.25
            world = torch.tanh(world @ local)
        out.append(world[:3, 3])
    return torch.stack(out)


def skew(k):
    made = torch.zeros(3, 3)
    made[0, 1], made[0, 2] = -k[2], k[1]
    made[1, 0], made[1, 2] = k[2], -k[0]
    made[2, 0], made[2, 1] = -k[1], k[0]
    return made


def rotations(model, lists):
    out = []
    for labels in lists:
        v = torch.ones(3)
        for label in labels:
            angle = v.norm() + label
            turn = skew(torch.tanh(v))
            v = (torch.eye(3) + torch.sin(angle) * turn + (1 - torch.cos(angle)) * (turn @ turn)) @ v
        out.append(v)
    return torch.stack(out)


def bands(model, lists):
    out = []
    for labels in lists:
        v = torch.zeros(5)
        table = torch.zeros(2, 5)
        v[1:3] = len(labels)
        v[3:] = model.up(torch.ones(5))[:2] * labels[0]
        table[-1, 1:-1] = labels[-1] + 0.5
        out.append(torch.tanh(model.up(v)) + table[1])
    return torch.stack(out)


LISTS = [[1], [2, 2, 4], [0, 3], [4, 3, 2, 1, 0]]
TREES = [(1, []), (0, [(2, []), (4, [(3, [])])]), (3, [(3, [(3, [])]), (1, []), (0, [])])]


def test_one_hot_leaves():
    torch.manual_seed(0)
    check(trees_of, Model(), TREES, others=((Model(), TREES[:1]), (Model(), TREES * 2)))


@pytest.mark.parametrize("program", [counts, of_tensors, of_rows, branches, homogeneous, rotations, bands])
def test_as_the_loop(program):
    torch.manual_seed(0)
    check(program, Model(), LISTS, others=((Model(), LISTS[:1]), (Model(), LISTS[1:] * 2), (Model(), [[0]])))


@pytest.mark.parametrize("label", [-1, 5, 1.0, True, None, "a"])
def test_other_places_are_left_to_the_loop(label):
    lifted = batched(branches, Model(), LISTS)
    if label is True:
        with pytest.raises(NotImplementedError):
            lifted(Model(), [[1, label]])
    else:
        with pytest.raises(Exception):
            lifted(Model(), [[label]])


def test_lifted():
    model = Model()
    lifted = looplift.lift(trees_of)
    for trees in (TREES, TREES[:1], [(-1, [(2, [])])], TREES * 3):
        assert_same(lifted(model, trees), trees_of(model, trees))
    with pytest.raises(IndexError, match="out of bounds"):
        lifted(model, [(5, [])])


def used_before(model, lists):
    out = []
    for labels in lists:
        v = torch.zeros(5)
        for label in labels:
            out.append(model.up(v))
            v[label] = 1.0
    return torch.stack(out)


def known_twice(model, lists):
    out = []
    for labels in lists:
        v = torch.zeros(5)
        out.append(v)
        for label in labels:
            v[label] = 1.0
    return torch.stack(out)


def renamed(model, lists):
    out = []
    for labels in lists:
        v = torch.zeros(5)
        w = v
        v[labels[0]] = 1.0
        out.append(model.up(w))
    return torch.stack(out)


def kept_for_backward(model, lists):
    out = []
    for labels in lists:
        v = torch.sigmoid(model.up(torch.ones(5)))
        v[labels[0]] = 1.0
        out.append(v)
    return torch.stack(out)


def again(model, lists):
    out = []
    for labels in lists:
        v = torch.zeros(5)
        for k, label in enumerate(labels):
            v[label] = k + 0.5
        out.append(torch.tanh(model.up(v)))
    return torch.stack(out)


def carried(model, lists):
    out = []
    v = torch.zeros(5)
    for labels in lists:
        v[labels[0]] = 1.0
        out.append(model.up(v))
    return torch.stack(out)


def made_elsewhere(model, lists):
    def made():
        return torch.zeros(5)

    out = []
    for labels in lists:
        v = made()
        v[labels[0]] = 1.0
        out.append(model.up(v))
    return torch.stack(out)


def of_another_shape(model, lists):
    out = []
    for labels in lists:
        v = torch.zeros(5)
        v[1:] = model.up(torch.ones(5))[0]
        v[: len(labels)] = 1.0
        out.append(v)
    return torch.stack(out)


def into_a_view(model, lists):
    out = []
    for labels in lists:
        table = torch.zeros(5, 5)
        row = table[0]
        row[1:3] = float(labels[0])
        out.append(table @ torch.ones(5))
    return torch.stack(out)


@pytest.mark.parametrize(
    "program",
    [
        used_before,
        known_twice,
        renamed,
        kept_for_backward,
        again,
        carried,
        made_elsewhere,
        of_another_shape,
        into_a_view,
    ],
)
def test_kept_where_the_store_may_be_seen(program):
    with pytest.raises(NotLiftable):
        batched(program, Model(), LISTS)
    model, lifted = Model(), looplift.lift(program)
    for _ in range(3):
        assert_same(lifted(model, LISTS), program(model, LISTS))


def one_too_long(model, lists):
    out = []
    for labels in lists:
        v = torch.zeros(5)
        v[:3] = model.up(torch.ones(5))[:4]
        out.append(v)
    return torch.stack(out)


def behind_the_end(model, lists):
    out = []
    for labels in lists:
        v = torch.zeros(5, 5)
        v[0, 5] = 1.0
        out.append(model.up(v))
    return torch.stack(out)


@pytest.mark.parametrize("program, error", [(one_too_long, RuntimeError), (behind_the_end, IndexError)])
def test_raises_as_the_loop(program, error):
    lifted = looplift.lift(program)
    with pytest.raises(error) as wanted:
        program(Model(), LISTS)
    with pytest.raises(error, match=re.escape(str(wanted.value))):
        lifted(Model(), LISTS)


def integers(model, lists):
    out = []
    for labels in lists:
        v = torch.zeros(5, dtype=torch.int64)
        v[labels[0]] = 1
        out.append(v)
    return torch.stack(out)


def test_other_dtypes_are_left_to_the_loop():
    with pytest.raises(NotImplementedError):
        batched(integers, Model(), LISTS)(Model(), LISTS)
