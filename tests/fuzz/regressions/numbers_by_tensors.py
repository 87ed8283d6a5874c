"""``number / tensor`` is the tensor's reciprocal times the number: ``41 / 41.`` is less than 1."""

import torch


class Node:
    def __init__(self, x, number, inner=None):
        self.x, self.number, self.inner = x, number, inner


def quotient(node):
    return quotient(node.inner) if node.inner is not None else torch.floor(node.number / torch.relu(node.x))


def program(nodes):
    out = []
    for node in nodes:
        out.append(quotient(node))
    return out


def arguments(seed):
    return ([Node(torch.full((2,), float(k)), k) for k in (41 + seed, 47, 55, 61 + 2 * seed)],)
