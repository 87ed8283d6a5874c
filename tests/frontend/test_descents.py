"""Functions that call themselves over one tree that all iterations share: each call is translated, for its node."""

import copy
import random

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


class Node:
    def __init__(self, depth, draw):
        self.leaf, self.value = depth == 0, draw.random()
        self.feature, self.threshold = draw.randrange(3), draw.gauss(0, 1)
        if depth:
            self.left, self.right = Node(depth - 1, draw), Node(depth - 1, draw)


def decided(node, x):
    if node.leaf:
        return node.value
    if x[node.feature] < node.threshold:
        return decided(node.left, x)
    return decided(node.right, x)


def decisions(root, rows):
    out = torch.zeros(rows.shape[0])
    for i in range(rows.shape[0]):
        out[i] = decided(root, rows[i])
    return out


class Ball:
    def __init__(self, centre, radius):
        self.centre, self.radius = centre, radius

    def distance(self, p):
        return torch.linalg.norm(p - self.centre) - self.radius


class Union:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def distance(self, p):
        return torch.minimum(self.a.distance(p), self.b.distance(p))


def distances(scene, points):
    found = []
    for p in points:
        found.append(scene.distance(p))
    return torch.stack(found)


class Gate(torch.nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.leaf = depth == 0
        if depth:
            self.gate, self.left, self.right = torch.nn.Linear(3, 1), Gate(depth - 1), Gate(depth - 1)
        else:
            self.weight = torch.nn.Parameter(torch.randn(2))


def walked(node, x, share):
    if node.leaf:
        return share * node.weight
    q = torch.sigmoid(node.gate(x))
    return walked(node.left, x, share * q) + walked(node.right, x, share * (1 - q))


def soft_decisions(tree, rows):
    found = []
    for x in rows:
        found.append(walked(tree, x, torch.ones(1)))
    return torch.stack(found)


def counted(node, x):
    node.count = getattr(node, "count", 0) + 1
    return node.value if node.leaf else counted(node.left if x[node.feature] < 0 else node.right, x)


def counts(root, rows):
    found = []
    for x in rows:
        found.append(counted(root, x))
    return found, root.count


def compare(function, *calls, backend="auto"):
    lifted = lift(function, backend=backend, verify="off")
    for arguments in calls:
        found = []
        for one in (lifted, function):
            try:
                found.append(one(*arguments))
            except Exception as error:
                found.append(repr(error))
        assert difference(*found) is None
    return [one.decision for one in lifted.report().loops]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_decision_trees(backend):
    rows, draw = torch.randn(40, 3, generator=torch.Generator().manual_seed(0)), random.Random(0)
    first, second, leaf = Node(2, draw), Node(3, draw), Node(0, draw)
    shorter, without, tensor = copy.deepcopy(first), copy.deepcopy(first), copy.deepcopy(first)
    shorter.left.leaf = True
    del without.left.feature
    tensor.left.leaf, tensor.left.value = True, torch.tensor(3.0)
    calls = [(tree, rows) for tree in (first, second, first, leaf, shorter, without, tensor, second)]
    calls += [(first, rows * float("nan")), (first, rows[:0]), (first, rows[:, :1])]
    assert compare(decisions, *calls, backend=backend) == [backend if backend == "native" else "lanes"]


def test_trees_that_change_between_calls():
    rows, root = torch.randn(40, 3, generator=torch.Generator().manual_seed(0)), Node(3, random.Random(1))
    lifted = lift(decisions, verify="off")
    changes = [
        ("value", 9.5), ("leaf", True), ("threshold", 0.25), ("leaf", False), ("left", Node(1, random.Random(2))),
    ]  # fmt: skip
    for name, value in changes:
        for _ in range(2):
            assert difference(lifted(root, rows), decisions(root, rows)) is None
        setattr(root.left, name, value)
    assert difference(lifted(root, rows), decisions(root, rows)) is None


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_scenes(backend):
    points = torch.randn(30, 3)
    scene = Union(Union(Ball(torch.zeros(3), 1.0), Ball(torch.ones(3), 0.5)), Ball(torch.ones(3) * 2, 0.3))
    shared = Union(scene, scene)  # one object at two places
    calls = [(scene, points), (shared, points), (scene.b, points), (Union(scene.b, shared), points)]
    assert "kept" not in compare(distances, *calls, backend=backend)


def test_gradients_of_the_nodes_parameters():
    torch.manual_seed(0)
    tree, rows, found = Gate(3), torch.randn(20, 3), []
    for function in (lift(soft_decisions, verify="off"), soft_decisions):
        x = rows.clone().requires_grad_()
        result = function(tree, x)
        found.append((result, torch.autograd.grad(result.square().sum(), [x, *tree.parameters()])))
    assert difference(*found) is None
    assert compare(soft_decisions, (tree, rows), (Gate(2), rows)) == ["lanes"]


def test_nodes_that_change_on_the_way():
    rows, root = torch.randn(20, 3), Node(2, random.Random(0))
    other, lifted = copy.deepcopy(root), lift(counts, verify="off")
    for _ in range(3):
        assert difference(lifted(root, rows), counts(other, rows)) is None


def test_a_tree_without_an_end():
    root = Node(2, random.Random(0))
    root.left.left = root.left.right = root
    right, left = torch.full((3, 3), 9.0), torch.full((3, 3), -9.0)
    assert compare(decisions, (root, right), (root, left), (root, right)) == ["native"]
