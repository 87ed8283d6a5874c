"""Objects that a loop makes: their attributes are carried, joined and differ by lane as names do."""

from __future__ import annotations

import dataclasses
import types
from typing import NamedTuple

import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class Filter:
    GAIN = 0.5

    def __init__(self, x, scale=2.0):
        self.x = x
        self.scale = scale
        self.steps = 0

    def update(self, u):
        self.x = torch.tanh(self.GAIN * self.x + self.scale * u)
        self.steps += 1

    @property
    def energy(self):
        return (self.x * self.x).sum()

    @staticmethod
    def halved(x):
        return x / 2

    @classmethod
    def started(cls, x):
        return cls(cls.halved(x), scale=1.0)

    def __call__(self, u):
        self.update(u)
        return self.x


class Gated(Filter):
    def __init__(self, x, limit):
        super().__init__(x, scale=0.5)
        self.limit = limit
        self.rejected = 0

    def update(self, u):
        if u.sum() > self.limit:
            self.rejected += 1
            return
        super().update(u)


@dataclasses.dataclass
class State:
    x: torch.Tensor
    count: int = 0
    trace: list = dataclasses.field(default_factory=list)

    def push(self, u):
        self.x = self.x * 0.9 + u
        self.count += 1
        self.trace.append(self.x.sum())


@dataclasses.dataclass(frozen=True)
class Point:
    p: torch.Tensor
    v: torch.Tensor
    bounces: int = 0

    def moved(self, u):
        if (self.p + u).sum() > 1.0:
            return Point(self.p - u, -self.v, self.bounces + 1)
        return dataclasses.replace(self, p=self.p + 0.1 * self.v, v=self.v + u)


class Pair(NamedTuple):
    a: torch.Tensor
    n: int = 0

    def added(self, u):
        return self._replace(a=self.a + u, n=self.n + 1)


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


class Orientation:
    """Nobody knows before the first update; it holds another object, a list and a module's answers."""

    __slots__ = ("parent", "q", "trace")

    def __init__(self, parent):
        self.q = None
        self.parent = parent
        self.trace = []

    def update(self, u):
        q = self.q
        if q is None:
            q = torch.ones_like(u)
        q = q + u * self.parent.scale
        self.q = q / torch.norm(q)
        self.parent.update(self.q)
        self.trace.append(self.q[0])


@dataclasses.dataclass(slots=True, kw_only=True)
class Settings:
    rate: float
    start: dataclasses.InitVar[float] = 1.0
    decay: float = 0.5
    level: float = dataclasses.field(init=False, default=0.0)
    rates: list = dataclasses.field(default_factory=lambda: [1.0, 2.0])

    def __post_init__(self, start):
        self.level = start * self.rate


class Walker:
    """Its attributes are set by a method that a loop calls, not by its constructor."""

    best = 0.0

    def __init__(self, size):
        self.size = size

    def reset(self, x):
        self.at = x
        self.steps = 0

    def step(self, u):
        self.at = self.at + u
        self.steps += 1
        if self.at.sum() > self.best:
            self.best = self.at.sum().item()
        return self.steps >= self.size


def in_lanes(starts, us):
    outs, counts = [], []
    for b, x in enumerate(starts):
        f = Filter(x)
        for u in us[b]:
            f.update(u)
        outs.append(f.x)
        counts.append(f.steps)
    return torch.stack(outs), counts


def with_a_parent(starts, us):
    outs, rejected = [], 0
    for b, x in enumerate(starts):
        f = Gated(x, 0.3)
        for u in us[b]:
            f.update(u)
        outs.append(f.energy)
        rejected += f.rejected
    return torch.stack(outs), rejected


def by_class_method(starts, us):
    outs = []
    for b, x in enumerate(starts):
        f = Filter.started(x)
        last = x
        for u in us[b]:
            last = f(u) + 0.1 * last
        outs.append(last + f.scale)
    return torch.stack(outs)


def as_dataclass(starts, us):
    outs, traces = [], []
    for b, x in enumerate(starts):
        s = State(x)
        for u in us[b]:
            s.push(u)
        outs.append(s.x * s.count)
        traces.append(torch.stack(s.trace))
    return torch.stack(outs), torch.stack(traces)


def made_anew(starts, us):
    outs, bounces = [], []
    for b, x in enumerate(starts):
        p = Point(x, 0.5 * x)
        for u in us[b]:
            p = p.moved(u)
        outs.append(p.p + p.v)
        bounces.append(p.bounces)
    return torch.stack(outs), bounces


def as_named_tuple(starts, us):
    outs, counts = [], []
    for b, x in enumerate(starts):
        pair = Pair(x)
        for u in us[b]:
            pair = pair.added(torch.sin(pair.a) * u)
        a, n = pair
        outs.append(a + pair[0])
        counts.append(n)
    return torch.stack(outs), counts


def as_namespace(starts, us):
    outs = []
    for b, x in enumerate(starts):
        state = types.SimpleNamespace(x=x, n=1)
        for u in us[b]:
            state.x = torch.tanh(state.x + u)
            state.n += 1
        outs.append(state.x * state.n)
    return torch.stack(outs)


def with_operators(starts, us):
    outs = []
    for b, x in enumerate(starts):
        v = Vector(x, x * 0.5)
        for u in us[b]:
            v = v * 0.9 + 2 * Vector(u, -u)
        v += -v * 0.5
        outs.append(v.dot(v))
    return torch.stack(outs)


def set_later(starts, us):
    outs, best = [], []
    for b, x in enumerate(starts):
        w = Walker(4)
        for r in range(2):
            w.reset(x * r)
            for u in us[b]:
                if w.step(u):
                    break
        outs.append(w.at * w.steps)
        best.append(w.best)
    return torch.stack(outs), best


def known_later(starts, us):
    outs, traces = [], []
    for b, x in enumerate(starts):
        o = Orientation(Filter(x))
        for u in us[b]:
            o.update(u)
        outs.append(o.q + o.parent.x)
        traces.append(torch.stack(o.trace))
    return torch.stack(outs), torch.stack(traces)


def with_settings(starts, us):
    outs = []
    for b, x in enumerate(starts):
        s = Settings(rate=0.1, start=3.0)
        for u in us[b]:
            x = x + s.rate * u * s.rates[1] + s.level
            s.level *= s.decay
        outs.append(x * s.level)
    return torch.stack(outs)


def until_it_settles(starts, us):
    outs, counts = [], []
    for b, x in enumerate(starts):
        f = Filter(x)
        while f.energy > 0.05 and f.steps < 9:
            f.update(us[b, 0] * 0)
        outs.append(f.x)
        counts.append(f.steps)
    return torch.stack(outs), counts


def with_two_names(starts, us):
    outs = []
    for b, x in enumerate(starts):
        f = Filter(x)
        g = f
        for u in us[b]:
            f.update(u)
            g.update(0.5 * u)
        outs.append(f.x + g.x if f is g else f.x)
    return torch.stack(outs)


def in_front(xs):
    f = Filter(torch.zeros(3))
    outs = []
    for x in xs:
        f.update(x)
        outs.append(f.x)
    return torch.stack(outs), f.steps


def run(x, us):
    f = Filter(x)
    for u in us:
        f.update(u)
    return f


def by_a_helper(starts, us):
    outs = []
    for b, x in enumerate(starts):
        outs.append(run(x, us[b]).energy)
    return torch.stack(outs)


LANES = (
    in_lanes,
    with_a_parent,
    by_class_method,
    as_dataclass,
    made_anew,
    as_named_tuple,
    as_namespace,
    with_operators,
    set_later,
    known_later,
    with_settings,
    until_it_settles,
    with_two_names,
    by_a_helper,
)


def data(n=6, t=5, d=3, *, grad=False):
    generator = torch.Generator().manual_seed(1)
    starts, us = (torch.randn(*shape, generator=generator) for shape in ((n, d), (n, t, d)))
    return (starts.requires_grad_(grad), us.requires_grad_(grad))


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [one for item in value for one in flat(item)] if isinstance(value, (list, tuple)) else [torch.tensor(value)]


def same(found, wanted):
    assert type(found) is type(wanted)
    for a, b in zip(flat(found), flat(wanted), strict=True):
        assert a.dtype == b.dtype
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", LANES, ids=lambda function: function.__name__)
def test_values(function, backend):
    lifted = lift(function, backend=backend)
    for n in (6, 6, 4):
        same(lifted(*data(n)), function(*data(n)))
    if backend != "native":
        assert lifted.report().loops[0].decision in ("lanes", "native"), lifted.report()
    if backend == "torch":
        assert lifted.report().loops[0].decision == "lanes", lifted.report()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", LANES, ids=lambda function: function.__name__)
def test_gradients(function, backend):
    lifted = lift(function, backend=backend)
    for _ in range(2):
        mine, theirs = data(grad=True), data(grad=True)
        for one, inputs in ((lifted, mine), (function, theirs)):
            sum(part.sum() for part in flat(one(*inputs)) if part.requires_grad).backward()
        for a, b in zip(mine, theirs, strict=True):
            torch.testing.assert_close(a.grad, b.grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_object_in_front_of_the_loop(backend):
    lifted = lift(in_front, backend=backend)
    for n in (6, 6, 9):
        same(lifted(data(n)[0]), in_front(data(n)[0]))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, x):
        return torch.tanh(self.layer(x))


class Agent:
    def __init__(self, net, x):
        self.net = net
        self.x = x
        self.total = torch.zeros(())

    def step(self, u):
        self.x = self.net(self.x) + u
        self.total = self.total + self.x.sum()


def with_a_module(net, starts, us):
    outs = []
    for b, x in enumerate(starts):
        agent = Agent(net, x)
        for u in us[b]:
            agent.step(u)
        outs.append(agent.total)
    return torch.stack(outs)


@pytest.mark.parametrize("backend", ("auto", "torch"))
def test_a_module_as_an_attribute(backend):
    torch.manual_seed(0)
    net = Net()
    lifted = lift(with_a_module, backend=backend)
    for _ in range(3):
        found, wanted = lifted(net, *data()), with_a_module(net, *data())
        torch.testing.assert_close(found, wanted)
        mine, theirs = (torch.autograd.grad(one.sum(), list(net.parameters())) for one in (found, wanted))
        for a, b in zip(mine, theirs, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
    assert lifted.report().loops[0].decision == "lanes", lifted.report()
