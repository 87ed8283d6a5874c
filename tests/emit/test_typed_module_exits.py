"""Loops over modules of one or several containers that are left early, in programs over small tensors."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.emit.test_typed_tensors import first
from torch import nn

from looplift import lift

__all__ = ["first"]


class Exits(nn.Module):
    """Blocks, each with a head by which the stack may be left."""

    def __init__(self, blocks=3, heads=3):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(4, 4) for _ in range(blocks)])
        self.heads = nn.ModuleList([nn.Linear(4, 3) for _ in range(heads)])
        self.double()


def at_a_head(net, x, least):
    outs = []
    for xi in x:
        h = xi
        for k, (block, head) in enumerate(zip(net.blocks, net.heads)):
            h = torch.relu(block(h))
            logits = head(h)
            if logits.softmax(-1).max() > least or k == 2:
                outs.append(logits)
                break
    return torch.stack(outs)


def by_continue(net, x, least):
    outs = []
    for xi in x:
        h = xi
        for block in net.blocks:
            h = torch.relu(block(h))
            if h.sum() > least:
                continue
            h = h * 2
            if h.max() > 3 * least:
                break
        outs.append(h)
    return torch.stack(outs)


def left_at(net, h, least):
    for block, head in zip(net.blocks, net.heads):
        h = torch.relu(block(h))
        logits = head(h)
        if logits.softmax(-1).max() > least:
            return logits
    return logits * 2


def by_return(net, x, least):
    outs = []
    for xi in x:
        outs.append(left_at(net, xi, least))
    return torch.stack(outs)


def around_a_search(net, x, least):
    count = 0
    for xi in x:
        h = xi
        for k, block in enumerate(net.blocks):
            h = torch.relu(block(h))
            for v in h:
                if v > least:
                    break
            else:
                count += k
                break
        count += 10 * k
    return count


def of_parameters(net, x, least):
    total = 0.0
    for xi in x:
        for block, head in zip(net.blocks, net.heads):
            h = block.weight @ xi
            if (h > 3 * least).any():
                break
            total = total + (head.weight @ h).sum()
    return total


EVERY = (at_a_head, by_continue, by_return, around_a_search, of_parameters)


def outcome(function: Any, net: nn.Module, seed: int) -> Any:
    torch.manual_seed(seed)
    x = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    value = function(net, x, 0.45)
    if not isinstance(value, torch.Tensor):
        return value
    return [value, *torch.autograd.grad(value.sum(), [x, *net.parameters()], allow_unused=True)]


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize("function", EVERY, ids=lambda function: function.__name__)
def test_loops_over_modules_are_left_where_the_data_says_so(function, backend, first):
    torch.manual_seed(1)
    net = Exits()
    lifted = lift(function, backend=backend, verify="off")
    for seed in range(4):
        want, got = outcome(function, net, seed), outcome(lifted, net, seed)
        torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-12)
    assert "kept" not in str(lifted.report())


def test_as_many_modules_as_the_shorter_container_has(first):
    lifted = lift(of_parameters, backend="native", verify="off")
    for counts in ((3, 3), (2, 3), (3, 1), (3, 3)):
        torch.manual_seed(0)
        net = Exits(*counts)
        torch.testing.assert_close(outcome(lifted, net, 5), outcome(of_parameters, net, 5))
    assert "native" in str(lifted.report())
