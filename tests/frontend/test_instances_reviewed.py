"""Objects that a loop makes, asked in ways that tell a name from what it is bound to, and a class from its like."""

from __future__ import annotations

import collections
import dataclasses
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


# ---------------------------------------------------------------- what generated initializers do


@dataclasses.dataclass
class Base:
    x: torch.Tensor
    gain: float = dataclasses.field(init=False, default=3.0)


class WithAnotherGain(Base):
    gain = 7.0


@dataclasses.dataclass(frozen=True)
class FrozenBase:
    x: torch.Tensor
    gain: float = dataclasses.field(init=False, default=3.0)
    trace: dict = dataclasses.field(init=False, default_factory=dict)


class FrozenWithAnotherGain(FrozenBase):
    gain = 7.0


@dataclasses.dataclass(slots=True)
class Slotted:
    x: torch.Tensor
    gain: float = dataclasses.field(init=False, default=3.0)


class SlottedWithAnotherGain(Slotted):
    pass


class NotAskedAfterwards(Base):
    def __post_init__(self):
        self.x = self.x * 100


@dataclasses.dataclass
class Asked:
    x: torch.Tensor
    factor: dataclasses.InitVar[float] = 2.0

    def __post_init__(self, factor):
        self.x = self.x * factor


class AskedAfterwards(Asked):
    def __post_init__(self, factor):
        self.x = self.x * factor * 100


def of_a_field_outside_init(xs):
    return torch.stack([WithAnotherGain(x).gain * x + Base(x).gain for x in xs])


def of_a_frozen_field_outside_init(xs):
    return torch.stack([FrozenWithAnotherGain(x).gain * x for x in xs])


def of_a_slot_outside_init(xs):
    return torch.stack([SlottedWithAnotherGain(x).gain * x for x in xs])


def not_asked_afterwards(xs):
    return torch.stack([NotAskedAfterwards(x).x for x in xs])


def asked_afterwards(xs):
    return torch.stack([AskedAfterwards(x).x + AskedAfterwards(x, 3.0).x + Asked(x, factor=0.5).x for x in xs])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [
        of_a_field_outside_init,
        of_a_frozen_field_outside_init,
        of_a_slot_outside_init,
        not_asked_afterwards,
        asked_afterwards,
    ],
    ids=lambda function: function.__name__,
)
def test_what_a_generated_initializer_sets(function, backend):
    assert "kept" not in str(as_the_loop(function, backend).report())


class Triple(NamedTuple):
    x: torch.Tensor
    y: float = 2.0
    z: float = 3.0


Untyped = collections.namedtuple("Untyped", "x y")
Untyped.__new__.__defaults__ = (3.0,)


def of_defaults(xs):
    outs = []
    for x in xs:
        t = Triple(x, z=5.0)
        outs.append(t[0] * t[1] + t[2] * Untyped(x).y + Asked(x).x)
    return torch.stack(outs)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "defaults"),
    [(Triple.__new__, (9.0, 9.0)), (Untyped.__new__, (4.0,)), (Asked.__init__, (9.0,))],
    ids=lambda value: getattr(value, "__qualname__", "defaults"),
)
def test_defaults_of_generated_functions_that_change_between_calls(function, defaults, backend, monkeypatch):
    lifted = as_the_loop(of_defaults, backend)
    assert "kept" not in str(lifted.report())
    monkeypatch.setattr(function, "__defaults__", defaults)
    for _ in range(2):
        same(lifted(data()), of_defaults(data()))
    monkeypatch.undo()
    same(lifted(data()), of_defaults(data()))
