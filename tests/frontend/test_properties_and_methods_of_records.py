"""Properties and methods of objects that a region reaches one by one, or in lists: they are read as functions are."""

import functools
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
import torch
from torch.testing import assert_close

from looplift import lift

BACKENDS = ("auto", "torch", "native")


@dataclass
class Atom:
    x: torch.Tensor
    near: list = field(default_factory=list)
    mass: float = 1.0

    @property
    def degree(self):
        return len(self.near)

    @property
    def weight(self):
        return self.mass if self.degree < 2 else 2 * self.mass

    def pulled(self, other, *, by=0.5):
        return (other - self.x) * by * self.weight


class Pair(NamedTuple):
    i: int
    j: int

    @property
    def gap(self):
        return abs(self.i - self.j)


class Counting:
    def __init__(self, x):
        self.x, self.reads = x, 0

    @property
    def seen(self):
        self.reads += 1
        return self.x


def atoms(count=7):
    torch.manual_seed(count)
    near = [[(i * k) % count for k in range(i % 4)] for i in range(count)]
    return [Atom(torch.randn(3, requires_grad=True), near[i], 1.0 + i) for i in range(count)]


def by_property(items):
    out = []
    for atom in items:
        total = torch.zeros(3)
        for j in atom.near:
            total = total + items[j].x
        if atom.degree > 0:
            total = total / atom.degree
        out.append(torch.tanh(total) * atom.weight)
    return torch.stack(out)


def by_method(items):
    out = []
    for atom in items:
        total = torch.zeros(3)
        for j in atom.near:
            total = total + atom.pulled(items[j].x, by=0.25)
        out.append(total + atom.pulled(total))
    return torch.stack(out)


def of_one(atom, x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = (x[i] * atom.weight).sum() + atom.degree
    return out


def of_pairs(pairs, x):
    out = torch.zeros(len(pairs))
    for k, pair in enumerate(pairs):
        out[k] = (x[pair.i] - x[pair.j]).norm() / (1 + pair.gap)
    return out


def decisions(lifted):
    return {loop.decision for loop in lifted.report().loops}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [by_property, by_method])
def test_of_items_of_a_list(function, backend):
    lifted: Any = lift(function, backend=backend)
    for count in (7, 5):
        items = atoms(count)
        leaves = [atom.x for atom in items]
        wanted, given = function(items), lifted(items)
        assert_close(given, wanted)
        slopes = [torch.autograd.grad((one**2).sum(), leaves, allow_unused=True) for one in (given, wanted)]
        assert_close(slopes[0], slopes[1])


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize("function", [by_property, by_method])
def test_of_items_of_a_list_without_gradients(function, backend):
    lifted: Any = lift(function, backend=backend)
    for count in (7, 5):
        items = atoms(count)
        for atom in items:
            atom.x.requires_grad_(False)
        assert_close(lifted(items), function(items))
    assert decisions(lifted) == {"lanes"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_of_one_object_and_of_named_tuples(backend):
    lifted: Any = lift(of_one, backend=backend)
    for atom in atoms(5):
        x = torch.randn(6, 3)
        assert_close(lifted(atom, x), of_one(atom, x))
    assert "kept" not in decisions(lifted)
    lifted = lift(of_pairs, backend=backend)
    for count in (5, 3):
        pairs, x = [Pair(i, (i * i) % 4) for i in range(count)], torch.randn(6, 3)
        assert_close(lifted(pairs, x), of_pairs(pairs, x))
    assert "kept" not in decisions(lifted)


def test_a_method_that_an_object_has_itself_has_precedence():
    lifted, items = lift(by_method), atoms()
    assert_close(lifted(items), by_method(items))
    items[3].pulled = lambda other, by=0.5: other * 100  # type: ignore[method-assign]
    assert_close(lifted(items), by_method(items))
    other = atoms()
    other[2].pulled = functools.partial(Atom.pulled, other[5])  # type: ignore[method-assign]
    assert_close(lifted(other), by_method(other))
    assert_close(lift(by_method)(other), by_method(other))


def test_a_class_that_changes_is_noticed(monkeypatch):
    lifted, items = lift(by_property), atoms()
    assert_close(lifted(items), by_property(items))
    monkeypatch.setattr(Atom, "weight", property(lambda self: self.mass * 3))
    assert_close(lifted(items), by_property(items))
    single: Any = lift(of_one)
    x = torch.randn(6, 3)
    assert_close(single(items[0], x), of_one(items[0], x))
    monkeypatch.setattr(Atom, "degree", 11)
    assert_close(single(items[0], x), of_one(items[0], x))


def test_a_property_that_changes_its_object_changes_it_once_for_each_access():
    def both(items, one):
        total = torch.zeros(3)
        for item in items:
            total = total + item.seen + one.seen
        return total

    def made():
        return [Counting(torch.arange(3.0) + k) for k in range(4)], Counting(torch.ones(3))

    lifted = lift(both)
    for _ in range(3):
        (items, one), (same, other) = made(), made()
        assert_close(lifted(items, one), both(same, other))
        assert [item.reads for item in (*items, one)] == [item.reads for item in (*same, other)]

    def alone(one, x):
        for i in range(len(x)):
            x[i] = one.seen[0] + one.reads
        return x

    lifted = lift(alone)
    one, other = made()[1], made()[1]
    for _ in range(3):
        assert_close(lifted(one, torch.zeros(4)), alone(other, torch.zeros(4)))
        assert one.reads == other.reads


def test_attributes_that_a_class_reads_in_its_own_way_are_not_guessed():
    class Odd(Atom):
        def __getattribute__(self, name):
            return 3 if name == "degree" else super().__getattribute__(name)

    class Falling(Atom):
        def __getattr__(self, name):
            if name != "degree":
                raise AttributeError(name)
            return 5

        @property
        def degree(self):
            raise AttributeError

    for kind in (Odd, Falling):
        items = [kind(atom.x, atom.near, atom.mass) for atom in atoms()]
        assert_close(lift(by_property)(items), by_property(items))
        x = torch.randn(6, 3)
        assert_close(lift(of_one)(items[1], x), of_one(items[1], x))
