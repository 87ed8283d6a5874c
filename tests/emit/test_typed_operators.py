"""Classes of the user's with operators of their own: vectors, dual numbers."""

import copy
from dataclasses import dataclass

import pytest
import torch

from looplift import lift


class Vector:
    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def __rmul__(self, factor):
        return self * factor

    def __truediv__(self, divisor):
        return self * (1.0 / divisor)

    def __neg__(self):
        return Vector(-self.x, -self.y, -self.z)

    def __abs__(self):
        return self.dot(self) ** 0.5

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z


@dataclass
class Dual:
    value: float
    slope: float = 0.0

    def __add__(self, other):
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other):
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    def __rsub__(self, number):
        return Dual(number - self.value, -self.slope)


class Body:
    def __init__(self, place, speed, mass):
        self.place, self.speed, self.mass = place, speed, mass


def orbits(bodies, steps, dt):
    for _ in range(steps):
        for body in bodies:
            force = Vector(0.0, 0.0, 0.0)
            for other in bodies:
                if other is not body:
                    way = other.place - body.place
                    force += other.mass * way / (abs(way) ** 3 + 0.01)
            body.speed = body.speed + force * dt
        for body in bodies:
            body.place += body.speed * dt
    return [(body.place.x, body.place.y, body.place.z) for body in bodies]


def slopes(points):
    out = []
    for p in points:
        x = Dual(p, 1.0)
        y = x * x + (3.0 - x) * x
        out.append((y.value, y.slope))
    return out


def mirrored(points):
    total = Vector(0.0, 0.0, 0.0)
    for p in points:
        v = Vector(p, 2 * p, 1.0)
        total = total - (-v) if p > 0 else total + -v
    return total.x, total.y, abs(total)


def of_numbers_first(points):
    out = []
    for p in points:
        out.append((2 * Vector(p, 1.0, p)).dot(Vector(1.0, p, 0.5) * 3))
    return out


def without(points):
    out = []
    for p in points:
        out.append((p - Vector(p, p, p)).x if p > 100 else p)
    return out


class Reflected:
    def __init__(self, x):
        self.x = x

    def __radd__(self, other):
        return self.x + 1.0


def of_one_class(points):
    out = []
    for p in points:
        out.append(Reflected(p) + Reflected(p) if p > 100 else 1 + Reflected(p))
    return out


class Partly:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        if isinstance(other, Partly):
            return Partly(self.x + other.x)
        return NotImplemented


def of_some_kinds(points):
    out = []
    for p in points:
        out.append((Partly(p) + Partly(1.0)).x)
        if p > 100:
            out.append(Partly(p) + p)
    return out


def totals(points):
    out = []
    for p in points:
        out.append(sum([Reflected(p), 2.0]))
    return out


def bodies():
    return [Body(Vector(k * 1.0, k * 0.5, 0.1), Vector(0.0, 0.1 * k, 0.0), 1.0 + k) for k in range(4)]


def decisions(lifted):
    return {one.decision for one in lifted.report().loops}


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_objects_that_are_given_move(backend):
    lifted, given = lift(orbits, backend=backend, verify="off"), bodies()
    expected = copy.deepcopy(given)
    for steps in (3, 0, 5):
        assert lifted(given, steps, 0.01) == orbits(expected, steps, 0.01)
    assert [vars(one.place) for one in given] == [vars(one.place) for one in expected]
    assert decisions(lifted) == {"native"}


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize("function", [slopes, mirrored, of_numbers_first])
def test_objects_of_their_own(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for seed in range(3):
        points = torch.randn(6 * seed, generator=torch.Generator().manual_seed(seed)).tolist()
        assert lifted(points) == function(points)
    assert decisions(lifted) == {"native"}


def test_sums_of_objects():
    lifted = lift(totals, verify="off")
    assert lifted([1.0, 2.0]) == totals([1.0, 2.0])


@pytest.mark.parametrize("function", [without, of_one_class, of_some_kinds])
@pytest.mark.parametrize("backend", ["auto", "native"])
def test_an_operator_that_is_not_there_raises_as_in_the_loop(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    assert lifted([1.0, 2.0]) == function([1.0, 2.0])
    with pytest.raises(TypeError, match="unsupported operand"):
        lifted([1.0, 101.0])


def test_an_operator_that_changes_in_place_stays_as_written():
    class Counter:
        def __init__(self):
            self.n = 0

        def __iadd__(self, other):
            self.n += 2 * other
            return self

    def counted(points):
        total = Counter()
        for p in points:
            total += p
        return total.n

    lifted = lift(counted, verify="off")
    assert lifted([1, 2, 3]) == 12


def test_other_operators_are_tensors_own():
    class Scale:
        def __init__(self, by):
            self.by = by

        def __rmul__(self, other):
            return other + self.by

    def scaled(xs):
        out = []
        for k in range(len(xs)):
            out.append(xs[k] * Scale(k + 1.0))
        return out

    lifted, xs = lift(scaled, verify="off"), torch.arange(4.0)
    assert lifted(xs) == scaled(xs)
