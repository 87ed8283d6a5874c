"""Classes with defaults that are computed, attributes that are set later, and constants that are containers."""

import copy
from dataclasses import dataclass

import pytest
import torch
from tests.emit.test_typed_losses import runs_as_program
from tests.emit.test_typed_tensors import first

from looplift import lift

__all__ = ["first"]
RATE = 1 / 50
STEPS = [(0, 1), (1, 0), (0, -1), (-1, 0)]
WEIGHTS = {"near": 0.5, "far": 2.0}


class Filter:
    def __init__(self, gain, dt=1 / 100, bounds=(-2.0 * 3, 6.0), rate=RATE):
        self.gain, self.dt, self.bounds, self.rate = gain, dt, bounds, rate
        self.state = None

    def step(self, x, scale=1 - 0.5):
        if self.state is None:
            self.state = x * 0
        q = self.state
        self.state = q + torch.ones((), dtype=q.dtype) * scale * self.gain * (x - q) * self.dt / self.rate
        return max(self.bounds[0], min(self.bounds[1], self.state.sum().item()))


def with_defaults(xs):
    memo = {}
    for k in range(len(xs)):
        one = Filter(0.5 + k)
        for x in xs:
            memo[k] = one.step(x)
    return memo


class Agent:
    MOVES = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    COSTS = {0: 1.5, 1: 0.5}
    count = 0

    def __init__(self, size):
        self.size = size
        self.reset()
        self.total = 0.0

    def reset(self):
        self.place = (0, 0)
        self.steps = 0

    def step(self, action):
        row, column = self.MOVES[action]
        self.place = (self.place[0] + row) % self.size, (self.place[1] + column) % len(Agent.MOVES)
        self.steps += 1
        self.count += 1
        self.total += self.COSTS.get(action, 0.25) + len(STEPS) * STEPS[action][0] + WEIGHTS["far"]
        return self.place in [(1, 1), (2, 2)]


def walked(actions, size):
    found, memo = [], {}
    for k in range(3):
        agent = Agent(size)
        for action in actions:
            if agent.step((action + k) % 4):
                agent.reset()
        memo[k] = agent.total
        found.append((agent.place, agent.steps, agent.count))
    return found, memo


ACTIONS = [0, 1, 2, 3, 1, 1, 2, 2, 0, 3, 1, 2, 1, 1]


def decided(lifted):
    return [loop.decision for loop in lifted.report().loops]


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_walks(backend):
    lifted = lift(walked, verify="off", backend=backend)
    for size in (3, 5):
        assert lifted(ACTIONS, size) == walked(ACTIONS, size)
    assert ("native" in decided(lifted)) is (backend != "torch"), lifted.report()


def test_constants_are_read_at_each_call():
    lifted = lift(walked, verify="off")
    assert lifted(ACTIONS, 3) == walked(ACTIONS, 3)
    moves = Agent.MOVES[0]
    try:
        Agent.MOVES[0] = (2, 1)
        STEPS[1] = (7, 0)
        assert lifted(ACTIONS, 3) == walked(ACTIONS, 3)
        Agent.MOVES[0] = (2.0, 1)
        found = lifted(ACTIONS, 3)
        assert found == walked(ACTIONS, 3)
        assert [type(one[0][0]) for one in found[0]] == [type(one[0][0]) for one in walked(ACTIONS, 3)[0]]
        Agent.MOVES = tuple(Agent.MOVES)
        assert lifted(ACTIONS, 3) == walked(ACTIONS, 3)
    finally:
        Agent.MOVES, STEPS[1] = [moves, *list(Agent.MOVES)[1:]], (1, 0)
    assert lifted(ACTIONS, 3) == walked(ACTIONS, 3)


@pytest.mark.parametrize("asks", [False, True])
def test_defaults(asks, first):
    runs_as_program(with_defaults, lambda: torch.linspace(-1, 3, 12).view(4, 3).requires_grad_(asks))


def inner_defaults(xs):
    def scaled(x, by=2 * 3 - 1 / 4, beside=(1, -2)):
        return x * by + beside[1]

    memo = {}
    for k, x in enumerate(xs):
        memo[k] = scaled(x) + scaled(x, 1)
    return memo


def no_default(xs, on):
    def scaled(x, by=1 / 0):
        return x * by

    return scaled(xs[0], 1) if on else 0


def test_defaults_of_functions_inside(first):
    runs_as_program(inner_defaults, lambda: [1.0, 2.0], program=None)
    for on in (False, True):
        with pytest.raises(ZeroDivisionError):
            lift(no_default, verify="off")([1.0], on)


class Counting:
    SEEN = []
    TABLE = torch.arange(4.0)

    def __init__(self, x):
        self.x = x

    def step(self, k):
        self.SEEN.append(k)
        return self.x + k

    def look(self, k):
        return self.TABLE[k] * self.x + self.TABLE.sum()


def counted(xs):
    memo = {}
    for k, x in enumerate(xs):
        memo[k] = Counting(x).step(k)
    return memo


def test_constants_that_are_changed():
    lifted = lift(counted, verify="off")
    for _ in range(3):
        Counting.SEEN.clear()
        assert lifted([1.0, 2.0, 3.0]) == {0: 1.0, 1: 3.0, 2: 5.0}
        assert Counting.SEEN == [0, 1, 2]


def looked(xs):
    memo = {}
    for k, x in enumerate(xs):
        memo[k] = Counting(x).look(k)
    return memo


@pytest.mark.parametrize("asks", [False, True])
def test_tensors_of_a_class(asks, first):
    runs_as_program(looked, lambda: list(torch.linspace(0, 2, 3).requires_grad_(asks).unbind()), program=None)
    runs_as_program(looked, lambda: [0.5, 1.5])


def handed(given):
    return given.MOVES, [one for one in given.MOVES]


def test_what_is_handed_out_is_the_same_object():
    lifted = lift(handed, verify="off")
    for _ in range(3):
        found, listed = lifted(Agent(3))
        assert found is Agent.MOVES and listed == Agent.MOVES


class Late:
    def __init__(self, x):
        self.x = x

    def begin(self, second):
        if second:
            self.two = self.x
            self.one = 1
        else:
            self.one = 1
            self.two = self.x

    def add(self):
        self.one += 1
        self.two += self.x
        return self.two


def late(xs, second, begins):
    out, memo = [], {}
    for k, x in enumerate(xs):
        one = Late(x)
        if begins > k:
            one.begin(second)
        for j in range(3):
            memo[k, j] = one.add()
        out.append(one)
    return out, memo


def attributes(found):
    return [list(vars(one).items()) for one in found[0]], found[1]


@pytest.mark.parametrize("second", [False, True])
def test_late_attributes_are_handed_out(second):
    lifted = lift(late, verify="off")
    for _ in range(3):
        assert attributes(lifted([1, 2, 3], second, 3)) == attributes(late([1, 2, 3], second, 3))
    with pytest.raises(AttributeError, match="one"):
        lifted([1, 2, 3], second, 2)


def continued(given, rounds):
    total = 0
    for one in given:
        for _ in range(rounds):
            total += one.add()
    return total


def started(given, rounds):
    for one in given:
        for _ in range(rounds):
            one.begin(False)
            one.add()
    return [one.two for one in given]


@pytest.mark.parametrize("function", [continued, started])
@pytest.mark.parametrize("ready", [(True, True), (True, False), (False, False)])
def test_late_attributes_of_the_caller(function, ready):
    def given():
        found = [Late(3), Late(4)]
        for one, on in zip(found, ready):
            if on:
                one.begin(True)
        return found

    lifted = lift(function, verify="off")
    for rounds in (2, 0, 3):
        one, other = given(), given()
        outcomes = []
        for run, objects in ((lifted, one), (function, other)):
            try:
                outcomes.append(run(objects, rounds))
            except AttributeError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        assert [list(vars(x).items()) for x in one] == [list(vars(x).items()) for x in other]


@dataclass
class Noted:
    value: int
    step: int = 2

    def add(self):
        self.value += self.step
        self.last = self.value * 3
        return self.last


def noted(values):
    memo, kept = {}, []
    for k, value in enumerate(values):
        one, other = Noted(value), Noted(value)
        memo[k] = one.add()
        other.add()
        other.last = -1
        kept.append(one == other)
        kept.append(one == Noted(value))
    return memo, kept


def test_dataclasses_are_compared_by_their_fields():
    lifted = lift(noted, verify="off")
    for _ in range(2):
        assert lifted([1, 2, 5]) == noted([1, 2, 5])
    assert "native" in decided(lifted), lifted.report()


def test_copies_of_late_objects():
    one = Late(2)
    one.begin(False)
    lifted = lift(continued, verify="off")
    for _ in range(3):
        left, right = copy.copy(one), copy.copy(one)
        assert lifted([left], 4) == continued([right], 4)
        assert vars(left) == vars(right)
