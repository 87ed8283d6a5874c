"""Recursion as people write it in scripts: local functions, names of comprehensions, starred targets."""

from __future__ import annotations

import torch
from tests.waves.harness import check

from looplift import lift

EXPRESSIONS = [
    ("and", ("not", ("var", 1)), ("var", 2)),
    ("or", ("var", 0), ("and", ("var", 3), ("var", 1))),
    ("not", ("or", ("var", 2), ("var", 3))),
] * 3


def compared(function, *arguments, calls=3):
    lifted = lift(function)
    for _ in range(calls):
        assert torch.allclose(function(*arguments), lifted(*arguments), atol=1e-6)
    return lifted


def encoded(expressions, emb, net):
    def encode(expression):
        op, *parts = expression
        if op == "var":
            return emb[parts[0]]
        states = [encode(c) for c in parts]
        total = emb[len(states)]
        for c in states:
            total = total + c
        return torch.tanh(net(total))

    return torch.stack([encode(c) for c in expressions])


def test_a_function_that_each_call_makes_anew_is_one_kind_of_argument():
    torch.manual_seed(0)
    emb, net = torch.randn(4, 5), torch.nn.Linear(5, 5)
    lifted = compared(encoded, EXPRESSIONS, emb, net, calls=20)
    assert "more than" not in str(lifted.report())


def encoded_pair(tree, net):
    if isinstance(tree, torch.Tensor):
        return net(tree)
    return torch.tanh(encoded_pair(tree[0], net) + encoded_pair(tree[1], net))


def either(trees, net):
    return torch.stack([encoded_pair(tree, net) for tree in trees])


def test_items_of_what_is_a_tensor_or_a_tuple():
    torch.manual_seed(0)
    trees = [(torch.randn(5), (torch.randn(5), torch.randn(5))) for _ in range(40)]
    check(either, trees, torch.nn.Linear(5, 5))


def test_ever_new_functions_of_which_none_is_lifted_cost_nothing_more():
    def summed(parents, x):
        memo = {}

        def state(v):
            if v not in memo:
                memo[v] = x[v] + sum(state(p) for p in parents[v])
            return memo[v]

        return torch.stack([state(v) for v in range(len(parents))])

    parents = [[], [0], [0, 1], [2], [1, 3]]
    compared(summed, parents, torch.randn(5, 3), calls=25)
