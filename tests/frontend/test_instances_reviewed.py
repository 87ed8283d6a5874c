"""Objects that a loop makes, asked in ways that tell a name from what it is bound to, and a class from its like."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def same(found, wanted):
    assert type(found) is type(wanted)
    if isinstance(found, torch.Tensor):
        torch.testing.assert_close(found, wanted)
    elif isinstance(found, (list, tuple)):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            same(a, b)
    else:
        assert found == wanted


def data(n=4):
    return torch.randn(n, 3, generator=torch.Generator().manual_seed(2))


def as_the_loop(function, backend, make=data, calls=3):
    """The lifted function, once its answers were those of the loop."""
    lifted = lift(function, backend=backend)
    for _ in range(calls):
        same(lifted(make()), function(make()))
    return lifted


def sequences():
    return torch.randn(5, 4, 3, generator=torch.Generator().manual_seed(2))


# ---------------------------------------------------------------- names that are bound anew


class Box:
    def __init__(self, x):
        self.x = x


class Pair(NamedTuple):
    x: torch.Tensor


def same_object(seqs):
    outs = []
    for seq in seqs:
        a, b, n = Box(torch.zeros(3)), Box(torch.ones(3)), torch.zeros(3)
        for x in seq:
            if a is b:
                n = n + 1
            outs.append(a.x + x + n)
            a = b
    return torch.stack(outs)


def same_pair(seqs):
    outs = []
    for seq in seqs:
        a, b, n = Pair(torch.zeros(3)), Pair(torch.ones(3)), torch.zeros(3)
        for x in seq:
            if a is not b:
                n = n + 1
            outs.append(a.x + x + n)
            a = b
    return torch.stack(outs)


def same_dict(seqs):
    outs = []
    for seq in seqs:
        a, b, n = {"x": torch.zeros(3)}, {"x": torch.ones(3)}, torch.zeros(3)
        for x in seq:
            if a is b:
                n = n + 1
            outs.append(a["x"] + x + n)
            a = b
    return torch.stack(outs)


def bound_in_an_inner_loop(seqs):
    a, b, n = Box(torch.zeros(3)), Box(torch.ones(3)), torch.zeros(3)
    outs = []
    for seq in seqs:
        if a is b:
            n = n + 1
        for x in seq:
            outs.append(a.x + x + n)
            a = b
    return torch.stack(outs)


def taken_back(seqs):
    outs = []
    for seq in seqs:
        a, b = Box(torch.zeros(3)), Box(torch.ones(3))
        for x in seq:
            t = b.x
            b.x = t + 5
            outs.append(a.x + x)
            b.x = t
            a = b
    return torch.stack(outs)


def taken_back_in_a_dict(seqs):
    outs = []
    for seq in seqs:
        a, b = {"x": torch.zeros(3)}, {"x": torch.ones(3)}
        for x in seq:
            t = b["x"]
            b["x"] = t + 5
            outs.append(a["x"] + x)
            b["x"] = t
            a = b if x.sum() > 0 else a
    return torch.stack(outs)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [same_object, same_pair, same_dict, bound_in_an_inner_loop, taken_back, taken_back_in_a_dict],
    ids=lambda function: function.__name__,
)
def test_a_name_that_is_bound_to_another_object_in_turn(function, backend):
    as_the_loop(function, backend, sequences)


def the_one_before(seqs):
    outs = []
    for seq in seqs:
        before = Box(torch.zeros(3))
        for x in seq:
            now = Box(x)
            now.x = now.x + 0.5 * before.x
            outs.append(x if now is before else now.x)
            before = now
    return torch.stack(outs)


def test_a_new_object_in_each_iteration_is_no_other():
    lifted = as_the_loop(the_one_before, "torch", sequences)
    assert "kept" not in str(lifted.report())
