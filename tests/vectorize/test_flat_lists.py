"""One list of what all neighbours of all nodes give: its items are the entries, in their order."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift

NEAR = [[], [0, 2], [1], [3, 3, 0], [4, 1, 2, 0]]
OTHER = [[1], [], [], [], []]


def points():
    return torch.randn(5, 3, generator=torch.Generator().manual_seed(2))


def messages(x, near):
    out = []
    for i in range(len(near)):
        for j in near[i]:
            out.append(torch.tanh(x[i] * 2 - x[j]))
    return torch.stack(out)


def some(x, near):
    losses = []
    for i in range(len(near)):
        for j in near[i]:
            gap = ((x[i] - x[j]) ** 2).sum()
            if gap > 0.5:
                losses.append(gap)
    return torch.stack(losses).mean(), len(losses)


def of_the_outer_loop(x, near):
    out, ends = [], []
    for i in range(len(near)):
        for _ in near[i]:
            out.append(x[i])
            ends.append(i)
    return torch.stack(out), ends


def two_each(x, near):
    out = []
    for i in range(len(near)):
        for j in near[i]:
            out.append(x[i])
            out.append(x[j] * 2)
    return torch.stack(out)


def two_steps(x, near):
    return torch.cat([x[i] * x[k] for i in range(len(near)) for j in near[i] for k in near[j] if k != i])


@pytest.mark.parametrize("function", (messages, some, of_the_outer_loop, two_each, two_steps))
def test_flat_lists(function):
    calls = [[points(), NEAR]] if function is two_steps else [[points(), NEAR], [points() * 3, OTHER]]
    check(function, *calls, decisions={"lanes"})


def test_nothing_to_stack_raises():
    lifted = lift(messages, verify="off")
    for near in (NEAR, [[] for _ in NEAR]):
        if any(near):
            assert torch.allclose(lifted(points(), near), messages(points(), near))
            continue
        with pytest.raises(RuntimeError) as loop:
            messages(points(), near)
        with pytest.raises(RuntimeError) as found:
            lifted(points(), near)
        assert str(found.value) == str(loop.value)
