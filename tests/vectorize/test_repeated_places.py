"""Places that lists of lists name again and again, changed by what they held before: ``out[v] = out[v] + row``."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference

LISTS = [[0, 1], [4], [1, 1, 3], [3], [0]]


def added(rows, members):
    out = torch.zeros(5, 3)
    for k, each in enumerate(members):
        for v in each:
            out[v] = out[v] + rows[k]
    return out


def added_beside_counts(rows, members):
    out, count = torch.zeros(5, 3), torch.zeros(5)
    for k, each in enumerate(members):
        for v in each:
            out[v] = rows[k] * rows[v] + out[v]
            count[v] += 1
    for v in range(5):
        if count[v] > 0:
            out[v] = out[v] / count[v]
    return out, count


def taken_away(rows, members):
    out = torch.zeros(5, 3)
    for k in range(len(members)):
        for v in members[k]:
            out[v] = out[v] - rows[k] * 2
    return out


@pytest.mark.parametrize("function", [added, added_beside_counts, taken_away], ids=lambda function: function.__name__)
@pytest.mark.parametrize("gradients", [False, True])
def test_updates_at_repeated_places(function, gradients):
    rows = torch.linspace(-1, 2, 15).view(5, 3).requires_grad_(gradients)
    lifted = lift(function, verify="off")
    for members in (LISTS, [[2]], [[1, 0], [2, 3]], [[], [2, 2]], [], LISTS):
        wanted, found = function(rows, members), lifted(rows, members)
        assert not difference(found, wanted, magnitude=1.0)
        if gradients and members:
            one, other = (torch.autograd.grad(_score(result), rows)[0] for result in (found, wanted))
            assert torch.allclose(one, other)
    lifted = lift(function, verify="off")
    lifted(rows, LISTS)
    assert "kept" not in {loop.decision for loop in lifted.report().loops}, lifted.report()


def _score(result: Any) -> Any:
    results = result if isinstance(result, tuple) else (result,)
    return sum((one * torch.linspace(1, 2, one.numel()).view_as(one)).sum() for one in results)


def messages_of_a_layer(layers, x, edges):
    out = torch.zeros_like(x)
    for s, kind, t in edges:
        out[t] = out[t] + layers[kind](x[s])
    return out


def test_a_module_between_what_is_read_and_the_store():
    layers = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)])
    x = torch.linspace(-1, 2, 15).view(5, 3).requires_grad_()
    lifted = lift(messages_of_a_layer, verify="off")
    for edges in ([(0, 1, 2), (1, 0, 2), (2, 1, 2), (4, 0, 0)], [(0, 0, 1), (1, 1, 0)], [(3, 1, 3)], []):
        wanted, found = messages_of_a_layer(layers, x, edges), lifted(layers, x, edges)
        assert not difference(found, wanted, magnitude=1.0)
        if edges:
            leaves = [x, *layers.parameters()]
            slopes = [torch.autograd.grad(_score(one), leaves, allow_unused=True) for one in (found, wanted)]
            for one, other in zip(*slopes, strict=True):
                assert (one is None) == (other is None) and (one is None or torch.allclose(one, other, atol=1e-6))
