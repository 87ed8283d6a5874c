"""Functions and methods of users that have names of functions of torch: they need not give a new tensor."""

import sys
import types

import pytest
import torch
from tests.waves.harness import batched

from looplift import lift

own = sys.modules["functions_named_as_torchs"] = types.ModuleType("functions_named_as_torchs")
own.zeros = torch.zeros
own.empty = torch.empty


class Node:
    def __init__(self, x, children=()):
        self.x, self.children, self.buffer = x, list(children), torch.full((3, 4), 2.0)


class Pool:
    def __init__(self):
        self.buffer, self.asked = torch.full((3, 4), 3.0), 0

    def empty(self, count, width):
        self.asked += 1
        return torch.ones(count + 1, width)

    def zeros(self, count, width):
        return self.buffer

    def full_like(self, other, value):
        return other


def joined(rows):
    return torch.tanh(rows.sum(0))


def ones_like(buffer):
    return buffer


def full(node, value):
    node.x = node.x * value
    return torch.full((3, 4), value)


def into_what_is_held(node, pool):
    if not node.children:
        return torch.tanh(node.x)
    rows = ones_like(node.buffer)
    for k, child in enumerate(node.children):
        rows[k] = into_what_is_held(child, pool)
    return joined(rows)


def into_what_a_method_gives(node, pool):
    if not node.children:
        return torch.tanh(node.x)
    rows = pool.empty(len(node.children), 4)
    for k, child in enumerate(node.children):
        rows[k] = into_what_a_method_gives(child, pool)
    return joined(rows)


def onto_what_a_method_holds(node, pool):
    if not node.children:
        return torch.tanh(node.x)
    rows = pool.zeros(len(node.children), 4)
    for k, child in enumerate(node.children):
        rows[k] += onto_what_a_method_holds(child, pool) * 0.5
    return joined(rows)


def into_an_argument(node, pool):
    if not node.children:
        return torch.tanh(node.x)
    rows = pool.full_like(node.buffer, 0.0)
    for k, child in enumerate(node.children):
        rows[k] = into_an_argument(child, pool)
    return joined(rows)


def with_an_effect(node, pool):
    if not node.children:
        return torch.tanh(node.x)
    rows = full(node, 1.5)
    for k, child in enumerate(node.children):
        rows[k] = with_an_effect(child, pool)
    return joined(rows) + node.x


def into_what_out_gives(node, pool):
    if not node.children:
        return torch.tanh(node.x)
    rows = torch.zeros(3, 4, out=node.buffer)
    for k, child in enumerate(node.children):
        rows[k] = into_what_out_gives(child, pool)
    return joined(rows)


def through_a_name(node, pool):
    if not node.children:
        return torch.tanh(node.x)
    zeros = pool.zeros
    rows = zeros(3, 4)
    for k, child in enumerate(node.children):
        rows[k] = through_a_name(child, pool)
    return joined(rows)


def through_a_module(node, pool):
    if not node.children:
        return torch.tanh(node.x)
    rows = own.zeros(3, 4)
    for k, child in enumerate(node.children):
        rows[k] = through_a_module(child, pool)
    return joined(rows)


FUNCTIONS = [
    into_what_is_held, into_what_a_method_gives, onto_what_a_method_holds, into_an_argument, with_an_effect,
    into_what_out_gives, through_a_name, through_a_module,
]  # fmt: skip


def forest(encode):
    def encoded(trees, pool):
        out = []
        for tree in trees:
            out.append(encode(tree, pool))
        return out

    return encoded


def trees_of(seed=0):
    generator = torch.Generator().manual_seed(seed)

    def grown(depth):
        return Node(torch.randn(4, generator=generator), [grown(depth - 1), grown(depth - 1)] if depth else [])

    return [grown(2), grown(1), grown(2)]


def everything(trees, pool):
    held = []
    for tree in trees:
        held += [tree.x, tree.buffer, *everything(tree.children, pool)]
    return [*held, pool.buffer, torch.tensor(pool.asked)]


def assert_equal_runs(lifted, program, seed=0):
    mine, theirs = (trees_of(seed), Pool()), (trees_of(seed), Pool())
    torch.testing.assert_close(lifted(*mine), program(*theirs))
    torch.testing.assert_close(everything(*mine), everything(*theirs))


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("encode", FUNCTIONS, ids=lambda encode: encode.__name__)
def test_stores_go_where_they_went(encode, backend):
    program = forest(encode)
    lifted = lift(program, backend=backend, verify="off")
    for seed in range(3):
        assert_equal_runs(lifted, program, seed)


def test_a_function_that_is_replaced_is_seen(monkeypatch):
    program = forest(through_a_module)
    lifted = lift(program, backend="torch", verify="off")
    assert_equal_runs(lifted, program)
    monkeypatch.setattr(own, "zeros", lambda *size: torch.full(size, 5.0))
    assert_equal_runs(lifted, program, 1)


def through_torch(node):
    if not node.children:
        return torch.tanh(node.x)
    rows = torch.empty(len(node.children), 4)
    for k, child in enumerate(node.children):
        rows[k] = through_torch(child)
    return joined(rows)


def all_through_torch(trees):
    return [through_torch(tree) for tree in trees]


def test_those_of_torch_are_batched():
    run = batched(all_through_torch, trees_of())
    assert "waves.filled" in run.source
    torch.testing.assert_close(run(trees_of(1)), all_through_torch(trees_of(1)))
