"""Objects that a loop makes and that are more than the sum of their attributes: other names, other iterations, classes
that change, methods that fail. What is lifted and what is kept gives the loop's answers."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class Tank:
    GAIN = 0.5
    made = 0

    def __init__(self, x):
        self.x = x

    def step(self, u):
        self.x = self.GAIN * self.x + u

    def checked(self, u):
        if u.sum() > 4.0:
            raise ValueError("too much")
        self.x = self.x + u

    @property
    def level(self):
        return self.x * 2


class Counted(Tank):
    def __init__(self, x):
        super().__init__(x)
        Counted.made += 1


class Watchful(Tank):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


class Guessing(Tank):
    def __getattr__(self, name):
        return 3.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: torch.Tensor

    def step(self, u):
        self.x = self.x + u


@dataclasses.dataclass
class Body:
    x: torch.Tensor
    other: object = None


class Memory:
    seen = []

    def __init__(self, x):
        self.x = x
        self.seen.append(float(x[0]))


def put_into_a_list(xs):
    tanks = []
    for x in xs:
        t = Tank(x)
        t.step(x)
        tanks.append(t)
    return torch.stack([t.x for t in tanks]), [type(t) for t in tanks], tanks[0] is tanks[-1]


def changed_by_another_name(xs):
    t = Tank(torch.zeros(3))
    s = Tank(torch.ones(3))
    outs = []
    for x in xs:
        t.step(x)
        if x.sum() > 0:
            s = t
        outs.append(s.x + t.x)
    return torch.stack(outs)


def the_one_before(xs):
    before = Tank(torch.zeros(3))
    outs = []
    for x in xs:
        now = Tank(x)
        now.step(before.x)
        before.step(x)
        outs.append(before.x + now.x)
        before = now
    return torch.stack(outs)


def taken_from_both_sides(xs):
    outs = []
    for x in xs:
        a, b = Tank(x), Tank(-x)
        c = a if x.sum() > 0 else b
        c.step(x)
        outs.append(a.x + 2 * b.x)
    return torch.stack(outs)


def asked_who_it_is(xs):
    outs = []
    for x in xs:
        a, b = Tank(x), Tank(x)
        c = a if x.sum() > 0 else b
        outs.append(x if c is a else -x)
    return torch.stack(outs)


def held_by_another(xs):
    outs = []
    for x in xs:
        inner = Body(x)
        outer = Body(x * 2, inner)
        for k in range(3):
            outer.other.x = outer.other.x * 0.5 + k
            inner.x = inner.x + outer.x
        outs.append(inner.x)
    return torch.stack(outs)


def counts_its_objects(xs):
    outs = []
    for x in xs:
        outs.append(Counted(x).level)
    return torch.stack(outs)


def sets_in_its_own_way(xs):
    outs = []
    for x in xs:
        outs.append(Watchful(x).x)
    return torch.stack(outs)


def reads_in_its_own_way(xs):
    outs = []
    for x in xs:
        outs.append(Guessing(x).x * Guessing(x).unknown)
    return torch.stack(outs)


def remembers(xs):
    outs = []
    for x in xs:
        outs.append(Memory(x).x * 2)
    return torch.stack(outs)


def of_a_class_inside(xs):
    class Local:
        def __init__(self, x):
            self.x = x * 3

    outs = []
    for x in xs:
        outs.append(Local(x).x)
    return torch.stack(outs)


def as_text(xs):
    outs = []
    for x in xs:
        t = Body(x)
        outs.append(len(str(t)) > 0)
    return outs


def compared(xs):
    outs = []
    for k, x in enumerate(xs):
        outs.append(Tank(k) == Tank(k))
    return outs


def several(xs):
    outs = []
    for x in xs:
        tanks = [Tank(x), Tank(-x)]
        for t in tanks:
            t.step(x)
        outs.append(tanks[0].x + 2 * tanks[1].x)
    return torch.stack(outs)


def in_place(xs):
    outs = []
    for x in xs:
        t = Tank(x)
        t.x += 1.0
        outs.append(t.x * 2)
    return torch.stack(outs)


def named_twice(xs):
    outs = []
    for x in xs:
        t = Tank(x)
        t.x = (y := x + 1)
        z = (w := x * 2)
        outs.append(t.x * y + z * w)
    return torch.stack(outs)


class Doubled(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor

    def __getitem__(self, key):
        return self.x * 2


def takes_items_in_its_own_way(xs):
    outs = []
    for x in xs:
        d = Doubled(x, -x)
        outs.append(d[1] + d.y)
    return torch.stack(outs)


@dataclasses.dataclass
class Described:
    x: torch.Tensor

    def seen(self):
        return self.__dict__["x"]

    def set_x(self, value):
        self.__dict__["x"] = value * 2


Described.x = property(Described.seen, Described.set_x)


def sets_a_property(xs):
    outs = []
    for x in xs:
        outs.append(Described(x).x)
    return torch.stack(outs)


def bound_to_the_first(xs):
    first = None
    outs = []
    for x in xs:
        t = Tank(x)
        if first is None:
            first = t
        first.step(x)
        outs.append(t.x + first.x)
    return torch.stack(outs)


PROGRAMS = (
    named_twice,
    takes_items_in_its_own_way,
    sets_a_property,
    bound_to_the_first,
    put_into_a_list,
    changed_by_another_name,
    the_one_before,
    taken_from_both_sides,
    asked_who_it_is,
    held_by_another,
    counts_its_objects,
    sets_in_its_own_way,
    reads_in_its_own_way,
    remembers,
    of_a_class_inside,
    as_text,
    compared,
    several,
    in_place,
)


def data(n=7):
    return torch.randn(n, 3, generator=torch.Generator().manual_seed(2))


def seen(function, xs):
    """The answer, with what was left behind."""
    Counted.made, Memory.seen = 0, []
    return function(xs), Counted.made, list(Memory.seen), xs


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


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_the_answers_are_the_loops(function, backend):
    lifted = lift(function, backend=backend)
    for n in (7, 7, 4):
        same(seen(lifted, data(n)), seen(function, data(n)))


def levels(xs):
    outs = []
    for x in xs:
        t = Tank(x)
        t.step(x)
        outs.append(t.level)
    return torch.stack(outs)


def doubled(self, u):
    self.x = self.x + 2 * u


def started(self, x):
    self.x = x + 1


CHANGES = {
    "GAIN": 0.75,
    "step": doubled,
    "__init__": started,
    "level": property(lambda self: self.x - 1),
    "__setattr__": Watchful.__setattr__,
    "x": property(lambda self: self.__dict__["y"] * 2, lambda self, value: self.__dict__.__setitem__("y", value)),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CHANGES)
def test_a_class_that_changes_between_calls(name, backend, monkeypatch):
    lifted = lift(levels, backend=backend)
    for _ in range(3):
        same(lifted(data()), levels(data()))
    monkeypatch.setattr(Tank, name, CHANGES[name], raising=False)
    for _ in range(3):
        same(lifted(data()), levels(data()))
    monkeypatch.undo()
    same(lifted(data()), levels(data()))


def failing(xs):
    outs = []
    for x in xs:
        t = Tank(x)
        t.checked(x)
        outs.append(t.x)
    return torch.stack(outs)


def frozen(xs):
    outs = []
    for x in xs:
        f = Frozen(x)
        f.step(x)
        outs.append(f.x)
    return torch.stack(outs)


def lacking(xs):
    outs = []
    for x in xs:
        t = Tank(x)
        if x.sum() > 4.0:
            outs.append(t.missing)
        outs.append(t.x)
    return torch.stack(outs)


def mistaken(xs):
    return torch.stack([Tank(x, x).x for x in xs])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "error"),
    [
        (failing, ValueError),
        (frozen, dataclasses.FrozenInstanceError),
        (lacking, AttributeError),
        (mistaken, TypeError),
    ],
    ids=lambda one: one.__name__,
)
def test_errors(function, error, backend):
    lifted = lift(function, backend=backend)
    mild, wild = data() * 0.1, data() * 0.1
    wild[3] = 5.0
    for xs in (mild, mild, wild):
        expected = None
        try:
            expected = function(xs)
        except error as found:
            with pytest.raises(error, match=str(found).replace("(", r"\(").replace(")", r"\)")):
                lifted(xs)
        else:
            same(lifted(xs), expected)
