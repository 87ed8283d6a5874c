"""States of nodes in lists and dicts that the region fills at places of the data, in waves."""

from __future__ import annotations

import ast
import inspect
import random
import textwrap

import pytest
import torch
from tests.waves.harness import check

from looplift import lift
from looplift.frontend.host_effects import changes_its_surroundings


def parents_of(count, width):
    rng = random.Random(1)
    rows = [[rng.randrange(v - v % width) for _ in range(rng.randrange(1, 4))] for v in range(width, count)]
    return [[] for _ in range(width)] + rows


def filled_list(x, parents, layer):
    h = [None] * len(parents)
    for v in range(len(parents)):
        if parents[v]:
            near = torch.stack([h[p] for p in parents[v]])
            message = (torch.softmax(near.sum(1, keepdim=True), dim=0) * near).sum(0)
        else:
            message = torch.zeros(x.shape[1])
        h[v] = torch.tanh(layer(x[v]) + message)
    return torch.stack(h)


def summed_upwards(x, parents, layer):
    n = len(parents)
    total = [torch.zeros(x.shape[1]) for _ in range(n)]
    h = [None] * n
    for v in range(n - 1, -1, -1):
        h[v] = torch.tanh(layer(x[v]) + total[v])
        for p in parents[v][:1]:
            total[p] = total[p] + h[v]
    return torch.stack(h)


def by_name(x, parents, layer):
    h = {}
    for v, near in enumerate(parents):
        message = torch.stack([h[f"n{p}"] for p in near]).mean(0) if near else torch.zeros(x.shape[1])
        h[f"n{v}"] = torch.tanh(layer(x[v]) + message)
    return torch.stack([h[f"n{v}"] for v in range(len(parents))])


@pytest.mark.parametrize("function", (filled_list, summed_upwards, by_name))
def test_states_in_waves(function):
    torch.manual_seed(0)
    layer, parents = torch.nn.Linear(4, 4), parents_of(60, 20)
    check(function, torch.randn(60, 4), parents, layer, others=((torch.randn(9, 4), parents_of(9, 3), layer),))
    text = textwrap.dedent(inspect.getsource(function))
    assert not changes_its_surroundings(ast.parse(text).body[0].body)


@pytest.mark.parametrize("text", ("h[0] = x", "h = other\nh[0] = x", "h = [None] * 3\nh = other\nh[0] = x"))
def test_what_may_be_of_the_caller(text):
    assert changes_its_surroundings(ast.parse(text).body)


def test_the_callers_list_is_not_filled_with_anything_else():
    def shared(x, parents, layer, h):
        for v in range(len(parents)):
            message = torch.stack([h[p] for p in parents[v]]).mean(0) if parents[v] else torch.zeros(x.shape[1])
            h[v] = torch.tanh(layer(x[v]) + message)
        return h[-1]

    torch.manual_seed(0)
    layer, x, parents = torch.nn.Linear(4, 4), torch.randn(40, 4), parents_of(40, 10)
    expected, found = [None] * 40, [None] * 40
    shared(x, parents, layer, expected)
    lift(shared)(x, parents, layer, found)
    assert all(type(state) is torch.Tensor for state in found)
    assert torch.allclose(torch.stack(found), torch.stack(expected), atol=1e-6)
