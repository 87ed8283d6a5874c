"""What an object has of its own goes before what its class has."""

import itertools

import pytest
from strictly import same

import looplift


class Part:
    weight = 1.5
    names = [3, 1]

    def __init__(self, size):
        self.size, self.parts = size, []

    def cost(self):
        return self.size * 2

    def share(self):
        return self.size * self.weight

    @staticmethod
    def fee():
        return 7


def of_constants(parts):
    total = 0.0
    for part in parts:
        total = total * 3 + part.size * part.weight
    return total


def through_methods(parts):
    total = 0.0
    for part in parts:
        total = total * 3 + part.share()
    return total


def of_methods(parts):
    total = 0
    for part in parts:
        total = total * 3 + part.cost()
    return total


def of_static_methods(parts):
    total = 0
    for part in parts:
        total = total * 3 + part.fee()
    return total


def of_containers(parts):
    total = 0
    for part in parts:
        total = total * 3 + part.names[0]
    return total


def of_trees(part):
    total = part.size * part.weight
    for one in part.parts:
        total += of_trees(one)
    return total


def made(sizes, parts):
    total = 0.0
    for size in sizes:
        for part in [*parts, Part(size)]:
            total = total * 0.5 + part.share()
    return total


def changed(parts):
    for k in range(3):
        for part in parts:
            part.weight = part.weight + k
    return [part.weight for part in parts]


def several(*hiding, count=4, name="weight", value=2.5):
    parts = [Part(k + 1) for k in range(count)]
    for k in hiding:
        setattr(parts[k], name, value)
    return parts


def nine():
    return 9


@pytest.mark.parametrize("function", [of_constants, through_methods, changed])
@pytest.mark.parametrize("hiding", [(), (0,), (2,), (1, 3), (0, 1, 2, 3)])
def test_constants_of_classes_are_those_of_the_objects_that_have_their_own(function, hiding):
    same(function, (several(*hiding),))


@pytest.mark.parametrize("function, name, value", [
    (of_methods, "cost", nine), (of_static_methods, "fee", nine), (of_containers, "names", [8]),
    (through_methods, "share", nine), (through_methods, "weight", -1.0), (of_constants, "weight", 7),
])  # fmt: skip
@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_what_hides_may_appear_later(function, name, value, backend):
    lifted = looplift.lift(function, verify="off", backend=backend)
    for hiding in [(), (), (1,), (), (0, 3), (0, 1, 2, 3), (2,), ()]:
        parts = several(*hiding, name=name, value=value)
        assert repr(lifted(parts)) == repr(function(parts)), hiding


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_other_attributes_hide_nothing(backend):
    lifted = looplift.lift(through_methods, verify="off", backend=backend)
    for hiding in [(), (1,), (0, 2)]:
        parts = several(*hiding, name="label", value="x")
        assert repr(lifted(parts)) == repr(through_methods(parts))
    if backend != "torch":
        assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_objects_that_are_looked_at_later_hide_as_well():
    def tree(*hiding):
        parts = several(*hiding)
        for one, other in itertools.pairwise(parts):
            one.parts.append(other)
        return parts[0]

    lifted = looplift.lift(of_trees, verify="off")
    for hiding in [(), (2,), (0,), (), (3,)]:
        assert repr(lifted(tree(*hiding))) == repr(of_trees(tree(*hiding)))


def test_objects_that_are_made_have_what_their_class_has():
    same(made, ([1, 2], several(1)), ([1, 2], several()), ([3], several(0, 1, 2, 3)))
