"""Objects that a loop makes, asked in ways that tell a name from what it is bound to, and a class from its like."""

from __future__ import annotations

import abc
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
    lifted = lift(function, backend=backend, verify="off")
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


# ---------------------------------------------------------------- what classes say of their objects


class Answering(type):
    def __instancecheck__(cls, found):
        return True


class Anything(metaclass=Answering):
    pass


class Registered(abc.ABC):
    pass


class Abstract(abc.ABC):
    def __init__(self, x):
        self.x = x

    @abc.abstractmethod
    def sign(self):
        pass


class Negative(Abstract):
    def sign(self):
        return -1.0


class Posing(Box):
    __class__ = property(lambda self: int)


def of_a_kind_that_answers(xs):
    return [x if isinstance(Box(x), Anything) else -x for x in xs]


def of_what_it_poses_as(xs):
    return [x if isinstance(Posing(x), int) else -x for x in xs]


def of_its_shown_class(xs):
    return [x if Posing(x).__class__ is int else -x for x in xs]


def of_a_registered_kind(xs):
    return [x if isinstance(Box(x), (Registered, float)) else -x for x in xs]


def of_its_bases(xs):
    outs = []
    for x in xs:
        negative = Negative(x)
        known = isinstance(negative, Abstract) and isinstance(negative, (int, object)) and not isinstance(negative, Box)
        outs.append(negative.x * negative.sign() if known else x)
    return torch.stack(outs)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [of_a_kind_that_answers, of_what_it_poses_as, of_its_shown_class, of_a_registered_kind, of_its_bases],
    ids=lambda function: function.__name__,
)
def test_which_classes_an_object_is_of(function, backend):
    lifted = as_the_loop(function, backend)
    assert ("kept" in str(lifted.report())) == (function is not of_its_bases)
    assert "[internal]" not in str(lifted.report())


def test_a_class_that_is_registered_between_calls():
    lifted = as_the_loop(of_a_registered_kind, "torch")
    Registered.register(Box)
    same(lifted(data()), of_a_registered_kind(data()))


class Once(property):
    def __get__(self, owner, of=None):
        return super().__get__(owner, of) * 2


class OnceOfObjects(property):
    def __get__(self, owner, of=None):
        return self if owner is None else super().__get__(owner, of) * 2


class Doubling:
    def __init__(self, x):
        self.x = x

    @Once
    def y(self):
        return self.x + 1

    @OnceOfObjects
    def z(self):
        return self.x + 2


class DoublingAgain(Doubling):
    @property
    def z(self):
        return super().z + 3


def by_a_property_that_fails_of_the_class(xs):
    return torch.stack([Doubling(x).y for x in xs])


def by_a_property_of_another_kind(xs):
    return torch.stack([Doubling(x).z for x in xs])


def by_a_property_of_another_kind_above(xs):
    return torch.stack([DoublingAgain(x).z for x in xs])


class Counting:
    def __init__(self, x):
        self.x, self.stores = x, 0

    def __getitem__(self, place):
        return self

    def __setitem__(self, place, value):
        self.stores += 1

    def __iadd__(self, other):
        self.x = self.x + other
        return self


def stored_again(xs):
    outs = []
    for x in xs:
        counting = Counting(x)
        counting[0] += x
        counting[0] += x
        outs.append(counting.x + 10 * counting.stores)
    return torch.stack(outs)


class Leaving:
    def __init__(self, x, limit):
        self.x = x
        if limit is None:
            return
        self.x = x * limit
        if limit > 2.0:
            return None
        self.x = self.x + 1


def leaves_its_initializer(xs):
    return torch.stack([Leaving(x, None).x + Leaving(x, 3.0).x + Leaving(x, 1.0).x for x in xs])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "is_lifted"),
    [
        (by_a_property_that_fails_of_the_class, False),
        (by_a_property_of_another_kind, False),
        (by_a_property_of_another_kind_above, False),
        (stored_again, True),
        (leaves_its_initializer, True),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_called_for_an_object(function, is_lifted, backend):
    lifted = as_the_loop(function, backend)
    if backend == "torch":
        assert ("kept" not in str(lifted.report())) == is_lifted


class Answered:
    def __init__(self, x):
        self.x = x
        return 5


def answers_its_maker(xs):
    return [Answered(x).x for x in xs]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("make", [data, lambda: [0.5, 1.5]], ids=["tensors", "numbers"])
def test_an_initializer_that_returns_a_value_raises(make, backend):
    lifted = lift(answers_its_maker, backend=backend, verify="off")
    for _ in range(3):
        with pytest.raises(TypeError, match="should return None, not 'int'"):
            lifted(make())


class Scaled:
    scale = None

    def __init__(self, x):
        self.x, self.scale = x, 2.0


class Plus:
    def shown(self):
        return self.x + 1


class Times:
    def shown(self):
        return self.x * 50


class Shown(Plus):
    def __init__(self, x):
        self.x = x

    def doubled(self):
        return super().shown() * 2


def by_names_of_classes(xs):
    return torch.stack([Scaled(x).scale * x + Shown(x).doubled() + Triple(x).y for x in xs])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("of", "name", "value"),
    [
        (Scaled, "scale", property(lambda self: 50.0, lambda self, value: None)),
        (Shown, "__bases__", (Times,)),
        (Triple, "y", property(lambda self: self[1] * 100)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_class_that_has_something_else_between_calls(of, name, value, backend):
    lifted = as_the_loop(by_names_of_classes, backend)
    assert "kept" not in str(lifted.report())
    before = getattr(of, name)
    setattr(of, name, value)
    try:
        for _ in range(2):
            same(lifted(data()), by_names_of_classes(data()))
    finally:
        setattr(of, name, before)
    same(lifted(data()), by_names_of_classes(data()))


# ---------------------------------------------------------------- numbers, which programs of C++ go through


@dataclasses.dataclass
class Late:
    x: float


Late.__post_init__ = lambda self: None


class Guessed(NamedTuple):
    x: float
    y: float = 2.0


Guessed.y = 5.0


class Swapped(NamedTuple):
    x: float
    y: float = 2.0


Swapped.x, Swapped.y = Swapped.y, Swapped.x


def numbers_by_defaults(xs):
    outs = []
    for x in xs:
        outs.append(Triple(x).y * x + Untyped(x).y + Gained(x).gain)
    return outs


def numbers_by_properties(xs):
    outs = []
    for x in xs:
        outs.append(Doubling(x).z)
    return outs


def numbers_asked_late(xs):
    outs = []
    for x in xs:
        outs.append(Late(x).x)
    return outs


def numbers_of_fields_gone(xs):
    outs = []
    for x in xs:
        outs.append(Guessed(x).y + x)
        outs.append(Swapped(x).y * 3)
    return outs


@dataclasses.dataclass
class Gained:
    x: float
    gain: float = 2.0


def numbers():
    return [0.5, -1.5, 2.0]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [
        numbers_by_defaults,
        numbers_by_properties,
        numbers_asked_late,
        numbers_of_fields_gone,
        of_a_kind_that_answers,
        of_what_it_poses_as,
    ],
)
def test_objects_of_numbers(function, backend):
    assert "[internal]" not in str(as_the_loop(function, backend, numbers).report())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        (Triple.__new__, "__defaults__", (9.0, 9.0)),
        (Untyped.__new__, "__defaults__", (4.0,)),
        (Gained.__init__, "__defaults__", (9.0,)),
        (Triple, "y", property(lambda self: self[1] * 100)),
    ],
    ids=["typed tuple", "tuple", "dataclass", "field"],
)
def test_numbers_of_classes_that_change_between_calls(owner, name, value, backend, monkeypatch):
    lifted = as_the_loop(numbers_by_defaults, backend, numbers)
    assert "kept" not in str(lifted.report())
    monkeypatch.setattr(owner, name, value)
    for _ in range(2):
        same(lifted(numbers()), numbers_by_defaults(numbers()))
    monkeypatch.undo()
    same(lifted(numbers()), numbers_by_defaults(numbers()))
