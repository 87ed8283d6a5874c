"""Nodes that are modules, told apart by their class or by an attribute: each is called as it can be."""

import pytest
import torch
from tests.waves.harness import assert_same, batched, check
from torch import nn

import looplift


class Leaf(nn.Module):
    leaf = True
    kind = "leaf"

    def __init__(self):
        super().__init__()
        self.p, self.left = nn.Parameter(torch.randn(3)), None

    def forward(self):
        return torch.softmax(self.p, 0)


class Inner(nn.Module):
    leaf = False
    kind = "inner"

    def __init__(self, depth):
        super().__init__()
        self.fc = nn.Linear(4, 1)
        make = (lambda: Inner(depth - 1)) if depth else Leaf
        self.left, self.right = make(), make()

    def forward(self, x):
        return torch.sigmoid(self.fc(x)).squeeze(0)


def by_flag(node, x):
    if node.leaf:
        return node()
    p = node(x)
    return p * by_flag(node.left, x) + (1 - p) * by_flag(node.right, x)


def by_negated_flag(node, x):
    if not node.leaf:
        p = node(x)
        return p * by_negated_flag(node.left, x) + (1 - p) * by_negated_flag(node.right, x)
    return node()


def by_none(node, x):
    if node.left is None:
        return node()
    p = node(x)
    return p * by_none(node.left, x) + (1 - p) * by_none(node.right, x)


def by_text(node, x):
    if node.kind == "leaf":
        return node()
    p = node(x)
    return p * by_text(node.left, x) + (1 - p) * by_text(node.right, x)


def by_class(node, x):
    if isinstance(node, Leaf):
        return node()
    p = node(x)
    return p * by_class(node.left, x) + (1 - p) * by_class(node.right, x)


def all_by_flag(root, xs):
    return torch.stack([by_flag(root, x) for x in xs])


def all_by_negated_flag(root, xs):
    return torch.stack([by_negated_flag(root, x) for x in xs])


def all_by_none(root, xs):
    return torch.stack([by_none(root, x) for x in xs])


def all_by_text(root, xs):
    return torch.stack([by_text(root, x) for x in xs])


def all_by_class(root, xs):
    return torch.stack([by_class(root, x) for x in xs])


PROGRAMS = [all_by_flag, all_by_negated_flag, all_by_none, all_by_text, all_by_class]


@pytest.mark.parametrize("program", PROGRAMS)
def test_told_apart(program):
    torch.manual_seed(0)
    root, xs = Inner(2), torch.randn(5, 4)
    check(program, root, xs, others=((root, xs[:1]),))


def test_an_attribute_that_changes():
    """The flag of one node is another one in a later call: the loop's own error, or its own result."""
    torch.manual_seed(0)
    root, xs = Inner(1), torch.randn(5, 4)
    lifted = looplift.lift(all_by_flag, verify="off")
    assert_same(lifted(root, xs), all_by_flag(root, xs))
    root.left.leaf = True
    with pytest.raises(TypeError) as wanted:
        all_by_flag(root, xs)
    with pytest.raises(TypeError, match=str(wanted.value).split("(")[0]):
        lifted(root, xs)
    root.left.leaf = False
    assert_same(lifted(root, xs), all_by_flag(root, xs))


def test_guarded():
    torch.manual_seed(0)
    root, xs = Inner(1), torch.randn(3, 4)
    run = batched(all_by_flag, root, xs)
    root.right.leaf = True
    with pytest.raises(AssertionError):
        run(root, xs)
