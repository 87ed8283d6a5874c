"""Functions that are defined beside a loop and call themselves, or each other, are batched by waves."""

import random

import pytest
import torch

from looplift import lift


def shallow(trees, emb, weight):
    def encode(tree):
        if isinstance(tree, tuple):
            return torch.tanh(weight @ torch.cat([encode(tree[0]), encode(tree[1])]))
        return emb[tree]

    return torch.stack([encode(tree) for tree in trees])


def by_turns(trees, emb, weight):
    def left(tree):
        if isinstance(tree, int):
            return emb[tree]
        return torch.tanh(weight @ torch.cat([right(tree[0]), left(tree[1])]))

    def right(tree):
        if isinstance(tree, int):
            return -emb[tree]
        return torch.relu(weight @ torch.cat([left(tree[0]), right(tree[1])]))

    found = []
    for tree in trees:
        found.append(left(tree) + right(tree))
    return torch.stack(found)


def by_depth(trees, emb, weight):
    def encode(tree, depth=0):
        if isinstance(tree, int):
            return emb[tree] * 0.5**depth, 1
        (a, m), (b, n) = encode(tree[0], depth + 1), encode(tree[1], depth + 1)
        return torch.tanh(weight @ torch.cat([a * m, b * n]) / (m + n)), m + n

    total = 0.0
    for tree in trees:
        total = total + encode(tree)[0].sum()
    return total


def forest(seed):
    rng = random.Random(seed)

    def grow(depth):
        if depth == 5 or rng.random() < 0.2:
            return rng.randrange(10)
        return (grow(depth + 1), grow(depth + 1))

    return [grow(0) for _ in range(8)]


@pytest.mark.parametrize("function", [shallow, by_turns, by_depth])
def test_inner_functions_that_call_themselves(function):
    lifted = lift(function, verify="off")
    for seed in range(3):
        torch.manual_seed(seed)
        trees, found = forest(seed), []
        emb, weight = (torch.randn(*shape, dtype=torch.float64).requires_grad_() for shape in ((10, 6), (6, 12)))
        for run in (function, lifted):
            out = run(trees, emb, weight)
            found.append((out.detach(), *torch.autograd.grad(out.square().sum(), (emb, weight))))
        for one, other in zip(*found, strict=True):
            torch.testing.assert_close(one, other)
    assert [loop.decision for loop in lifted.report().loops] == ["waves"]
