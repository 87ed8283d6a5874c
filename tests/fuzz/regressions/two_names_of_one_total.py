"""``a = b = tensor`` and ``b: Tensor = a`` give one tensor two names: ``+=`` shows under both."""

import torch


class Node:
    def __init__(self, x, children=()):
        self.x, self.children = x, children


def encoded(node):
    if not node.children:
        return torch.tanh(node.x)
    return torch.tanh(encoded(node.children[0]) + encoded(node.children[1]))


def annotated(node):
    first = torch.sigmoid(encoded(node))
    second: torch.Tensor = first
    second += 1
    return first * 2


def program(trees):
    total = seen = torch.zeros(4)
    for tree in trees:
        total += encoded(tree)
    rows = []
    for tree in trees:
        rows.append(annotated(tree))
    return total, seen, rows


def arguments(seed):
    leaf = lambda k: Node(torch.sin(torch.arange(4.0) + k + seed))  # noqa: E731
    return ([Node(torch.ones(4), (leaf(k), Node(torch.ones(4), (leaf(k + 1), leaf(k + 2))))) for k in range(3)],)
