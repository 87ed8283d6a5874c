"""Rows of arrays and tensors that functions get which call themselves over objects, at places that may be None."""

import math
import random

import numpy as np
import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class Node:
    def __init__(self, op, args=(), place=None):
        self.op, self.args, self.place = op, list(args), place


def grown(rng, depth):
    if depth == 0:
        return Node("var", place=rng.randrange(-3, 3))
    if rng.random() < 0.4:
        return Node("sin", [grown(rng, depth - 1)])
    return Node("mul", [grown(rng, depth - 1), grown(rng, depth - 1)])


def value_of(node, row):
    if node.op == "var":
        return row[node.place]
    a = value_of(node.args[0], row)
    if node.op == "sin":
        return math.sin(a)
    return a * value_of(node.args[1], row)


def scores(trees, rows):
    out = []
    for tree in trees:
        total = 0.0
        for row in rows:
            total += value_of(tree, row)
        out.append(total)
    return out


def forest(seed):
    rng = random.Random(seed)
    return [grown(rng, 3) for _ in range(5)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_rows_of_arrays(backend, dtype):
    rows = (np.arange(21.0).reshape(7, 3) % 5 - 2).astype(dtype)
    lifted = lift(scores, backend=backend)
    for seed in range(3):
        got, want = lifted(forest(seed), rows), scores(forest(seed), rows)
        assert got == pytest.approx(want, rel=1e-12) and list(map(type, got)) == list(map(type, want))
    if backend != "torch" and dtype is np.float64:
        assert lifted.report().loops[0].decision == "native"


def test_none_is_a_new_dimension():
    trees = forest(0)
    rows = np.arange(21.0).reshape(7, 3)
    lifted = lift(scores, backend="native", verify="off")
    assert lifted(trees, rows) == pytest.approx(scores(trees, rows))
    trees[0] = Node("var")
    got, want = lifted(trees, rows), scores(trees, rows)
    assert got[0].tolist() == want[0].tolist() == [rows.sum(0).tolist()]
    assert got[1:] == pytest.approx(want[1:])


def put(nodes, row):
    for node in nodes:
        if node.place is not None:
            row[node.place] += 1.0
    return len(nodes)


@pytest.mark.parametrize("backend", BACKENDS)
def test_elements_at_such_places_are_stored_to(backend):
    nodes = [Node("var", place=place) for place in (0, 2, None, -1, 2)]
    lifted = lift(put, backend=backend)
    for _ in range(3):
        mine, theirs = np.zeros(4), np.zeros(4)
        assert lifted(nodes, mine) == put(nodes, theirs)
        assert mine.tolist() == theirs.tolist()


def test_rows_of_tensors():
    rows = torch.linspace(-1, 1, 21).reshape(7, 3)
    lifted = lift(scores)
    for seed in range(3):
        got, want = lifted(forest(seed), rows), scores(forest(seed), rows)
        assert list(map(float, got)) == pytest.approx(list(map(float, want)), rel=1e-6)
        assert list(map(type, got)) == list(map(type, want))
