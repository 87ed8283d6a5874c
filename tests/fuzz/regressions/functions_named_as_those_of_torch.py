"""A function named ``zeros`` that gives a tensor which is there already: stores into it show."""

import torch


class Node:
    def __init__(self, x, buffer, children=()):
        self.x, self.buffer, self.children = x, buffer, children


def zeros(buffer):
    return buffer


def encoded(node):
    if not node.children:
        return torch.tanh(node.x)
    rows = zeros(node.buffer)
    for k, child in enumerate(node.children):
        rows[k] = encoded(child)
    return torch.tanh(rows.sum(0))


def program(trees):
    out = []
    for tree in trees:
        out.append(encoded(tree))
    return out, [tree.buffer for tree in trees]


def arguments(seed):
    leaf = lambda k: Node(torch.sin(torch.arange(4.0) + k + seed), torch.ones(2, 4))  # noqa: E731
    return ([Node(torch.ones(4), torch.ones(3, 4), (leaf(k), leaf(k + 1))) for k in range(3)],)
