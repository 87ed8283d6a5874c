"""Attributes that are computed when they are first read, for some objects before the loop and for others in it."""

import functools

import pytest
import torch
from tests.waves.harness import program_of

from looplift import lift
from looplift.base.errors import NotLiftable


class Doubled:
    def __init__(self, name):
        self.name = name

    def __get__(self, owner, kind=None):
        return self if owner is None else getattr(owner, self.name) * 2


class Node:
    sized = Doubled("state")

    def __init__(self, x, inner=None):
        self.x, self.inner, self.state = x, inner, torch.zeros(3)

    @functools.cached_property
    def score(self):
        return self.state.sum() + 2

    @functools.cached_property
    def is_large(self):
        return bool((self.state > 0).all())


def walked(node):
    return torch.tanh(node.x) if node.inner is None else torch.tanh(walked(node.inner) + node.x)


def scores(nodes):
    out = []
    for node in nodes:
        node.state = walked(node)
        out.append(walked(node) * node.score)
    return out


def decided(nodes):
    out = []
    for node in nodes:
        node.state = walked(node)
        out.append(walked(node) * 2 if node.is_large else walked(node))
    return out


def described(nodes):
    out = []
    for node in nodes:
        node.state = walked(node)
        out.append(walked(node) * node.sized)
    return out


def nodes_of(known, seed=0):
    generator = torch.Generator().manual_seed(seed)
    nodes = [Node(torch.rand(3, generator=generator) - 0.1, Node(torch.ones(3))) for _ in range(6)]
    for k in known:
        assert nodes[k].score is not None and nodes[k].is_large is not None
    return nodes


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("known", [(), (0,), (1, 4), range(6)])
@pytest.mark.parametrize("function", [scores, decided, described])
def test_they_are_computed_from_what_is_there_then(function, known, backend):
    lifted = lift(function, backend=backend, verify="off")
    for seed in range(3):
        mine, theirs = nodes_of(known, seed), nodes_of(known, seed)
        torch.testing.assert_close(lifted(mine), function(theirs))
        assert [sorted(vars(node)) for node in mine] == [sorted(vars(node)) for node in theirs]
        torch.testing.assert_close([node.state for node in mine], [node.state for node in theirs])


@pytest.mark.parametrize("known", [(), (0,)])
@pytest.mark.parametrize("function", [scores, decided, described])
def test_they_are_told(function, known):
    with pytest.raises(NotLiftable, match="may run code"):
        program_of(function, nodes_of(known))
