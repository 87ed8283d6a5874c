"""Attributes that a variant reads once: objects and classes between two calls come to run code where they are read."""

import copy
import itertools
import types

import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class Asked:
    """Counts how often it was asked for what it does not hold."""

    def __init__(self, **held):
        self.__dict__.update(held)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        count = self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        return float(count)


class AskedSlots:
    __slots__ = ("count", "scale")

    def __init__(self, **held):
        self.count = 0
        for name, value in held.items():
            setattr(self, name, value)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.count += 1
        return float(self.count)


def weighted(owner, x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = x[i] * owner.scale + i
    return out


def inner(owner, x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = x[i] * owner.part.scale
    return out


def items(owners, x):
    out = []
    for v in x:
        for owner in owners:
            out.append(v * owner.scale)
    return out


def call(function, made):
    found = function(*made)
    return found, [one.count if type(one) is AskedSlots else vars(one).get("count") for one in asked(made[0])]


def asked(owner):
    return owner if type(owner) is list else [owner.part if type(owner) is types.SimpleNamespace else owner]


def is_same(function, lifted, makes):
    for make in makes:
        want, got = call(function, make()), call(lifted, make())
        torch.testing.assert_close(got, want, rtol=0, atol=0)


X = torch.tensor([1.0, -2.0, 4.0], dtype=torch.float64)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", [Asked, AskedSlots])
def test_objects_without_what_others_hold(backend, kind):
    makes = [lambda: (kind(scale=3.0), X), lambda: (kind(), X), lambda: (kind(scale=0.5), X), lambda: (kind(), X)]
    lifted = lift(weighted, backend=backend, verify="off")
    is_same(weighted, lifted, makes)
    assert "1 loop: 0" not in str(lifted.report())
    assert "computed at each access" in str(lifted.report())


@pytest.mark.parametrize("backend", BACKENDS)
def test_objects_in_objects(backend):
    def made(part):
        return lambda: (types.SimpleNamespace(part=part()), X)

    makes = [lambda: Asked(scale=3.0), Asked, lambda: Asked(scale=1.5)]
    is_same(inner, lift(inner, backend=backend, verify="off"), list(map(made, makes)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", [Asked, AskedSlots])
def test_lists_of_objects(backend, kind):
    both, one, none = [{"scale": 5.0}, {"scale": 6.0}], [{"scale": 5.0}, {}], [{}, {}]
    makes = [lambda held=held: ([kind(**each) for each in held], [1.0, 2.0]) for held in (both, one, both, none, both)]
    is_same(items, lift(items, backend=backend, verify="off"), makes)


def of_new_classes(computed):
    """Pairs of a class that is plain at first and what makes it compute."""
    base = type("Base", (), {"scale": 2.0})
    return type("Plain", (base,), {}), lambda kind: setattr(kind.__mro__[computed], "scale", counting())


def counting():
    """A property of which each reading gives another number."""
    numbers = itertools.count()
    return property(lambda self: float(next(numbers)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("held", [True, False])
def test_classes_that_get_a_property(backend, place, held):
    lifted = lift(weighted, backend=backend, verify="off")
    kinds = [of_new_classes(place), of_new_classes(place)]
    owners = [kind() for kind, _ in kinds]
    for owner in owners if held else ():
        owner.scale = 3.0
    for _ in range(2):
        torch.testing.assert_close(lifted(owners[1], X), weighted(owners[0], X), rtol=0, atol=0)
    for kind, change in kinds:
        change(kind)
    torch.testing.assert_close(lifted(owners[1], X), weighted(owners[0], X), rtol=0, atol=0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["__getattribute__", "__getattr__"])
def test_classes_that_get_readers(backend, name):
    def reader(numbers):
        return lambda self, name: float(next(numbers)) if name == "scale" else object.__getattribute__(self, name)

    lifted = lift(weighted, backend=backend, verify="off")
    kinds = [type("Plain", (), {}) for _ in range(2)]
    owners = [kind() for kind in kinds]
    for owner in owners:
        owner.scale = 3.0
    torch.testing.assert_close(lifted(owners[1], X), weighted(owners[0], X), rtol=0, atol=0)
    for kind, owner in zip(kinds, owners, strict=True):
        setattr(kind, name, reader(itertools.count()))
        if name == "__getattr__":
            del owner.scale
    torch.testing.assert_close(lifted(owners[1], X), weighted(owners[0], X), rtol=0, atol=0)


class Counter:
    """A descriptor that computes, for classes as for their objects."""

    def __init__(self):
        self.count = 0

    def __get__(self, owner, kind):
        self.count += 1
        return float(self.count)


@pytest.mark.parametrize("backend", BACKENDS)
def test_classes_whose_attributes_are_computed(backend):
    lifted = lift(weighted, backend=backend, verify="off")
    for plain in (2.0, 3.0):
        owners = [type("Owner", (), {"scale": plain}) for _ in range(2)]
        torch.testing.assert_close(lifted(owners[1], X), weighted(owners[0], X), rtol=0, atol=0)
        for owner in owners:
            owner.scale = Counter()
        torch.testing.assert_close(lifted(owners[1], X), weighted(owners[0], X), rtol=0, atol=0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_modules_that_compute_attributes(backend):
    def module():
        made, numbers = types.ModuleType("made"), itertools.count()
        made.__getattr__ = lambda name: float(next(numbers))
        return made

    lifted = lift(weighted, backend=backend, verify="off")
    torch.testing.assert_close(lifted(module(), X), weighted(module(), X), rtol=0, atol=0)
    held = module()
    held.scale = 2.0
    other = copy.copy(held.__dict__)
    torch.testing.assert_close(lifted(held, X), weighted(held, X), rtol=0, atol=0)
    assert held.__dict__.keys() == other.keys()


@pytest.mark.parametrize("backend", BACKENDS)
def test_networks_whose_classes_get_a_property(backend):
    def network():
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = torch.nn.Parameter(torch.tensor(2.0, dtype=torch.float64))

        return Net()

    nets = network(), network()
    lifted = lift(weighted, backend=backend, verify="off")
    for _ in range(2):
        torch.testing.assert_close(lifted(nets[1], X), weighted(nets[0], X), rtol=0, atol=0)
    for net in nets:
        type(net).scale = counting()
    torch.testing.assert_close(lifted(nets[1], X), weighted(nets[0], X), rtol=0, atol=0)
