"""Functions that get values of several kinds, objects that are called, and arguments behind stars, as one program."""

from dataclasses import dataclass
from typing import Any, Optional

import pytest
import torch

from looplift import lift


class Ring:
    def __init__(self, size, like):
        self.data = [torch.zeros((), dtype=like.dtype) for _ in range(size)]
        self.pos = 0

    def push(self, x):
        old = self.data[self.pos]
        self.data[self.pos] = x
        self.pos = (self.pos + 1) % len(self.data)
        return old


def echoes(signal, delays, gain):
    mixed = []
    for x in signal:
        mixed.append(x)
    for d in delays:
        ring, tail = Ring(d, signal), Ring(2, signal[0])
        for k in range(len(mixed)):
            mixed[k] = tail.push(mixed[k] + gain * ring.push(mixed[k]))
    return (1 - gain) * signal + torch.stack(mixed)


def spread_of(values, start):
    low, high = start, start
    for value in values:
        low, high = min(low, value), max(high, value)
    return low, high


def spreads(numbers, words, rows):
    found = []
    for k in range(len(numbers)):
        found.append((spread_of(numbers[: k + 1], numbers[0]), spread_of(words[k:], words[k])))
        found.append((spread_of(rows[k], rows[k][0]), spread_of(words[k], "m")))
    return found


@dataclass
class Controller:
    gain: Any
    rest: Any
    limit: float
    total: float = 0.0
    last: Optional[Any] = None

    def __call__(self, error, dt=0.1):
        if self.last is not None:
            self.total = self.total + 0.5 * (error - self.last)
        self.last = error
        u = self.gain * error + self.rest * self.total * dt
        return torch.full_like(u, self.limit) if u > self.limit else u


def controlled(gains, goals, limit):
    found = []
    for g in range(gains.shape[0]):
        control = Controller(*gains[g], limit)  # pyright: ignore[reportCallIssue]
        speed = torch.zeros((), dtype=gains.dtype)
        for goal in goals:
            speed = speed + 0.3 * control(goal - speed)
            found.append(speed)
    return torch.stack(found)


class Smooth:
    def __init__(self, weight):
        self.weight, self.state = weight, 0.0

    def __call__(self, x):
        self.state += self.weight * (x - self.state)
        return self.state


class Both:
    def __init__(self, first, second):
        self.first, self.second = first, second

    def __call__(self, x, scale=1.0):
        return self.second(self.first(x)) * scale


def smoothed(xs, weights):
    filters = [Both(Smooth(w), Smooth(0.5 * w)) for w in weights]
    out = {}
    for k, x in enumerate(xs):
        for j in range(len(filters)):
            out[j, k] = filters[j](x) + filters[0](0.0, scale=0.5)
    return out, [f.first.state for f in filters]


def add(a, b, c=0):
    return a + 2 * b + 3 * c


def added(pairs, table, n):
    found = {}
    for k in range(n):
        found[k] = add(*pairs[k], 5) if k % 2 else add(1, *pairs[k])  # pyright: ignore[reportCallIssue]
        found[-k - 1] = add(*table[k])
    return found


def outcome(function, arguments) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error)


def signal(n, **options):
    return torch.linspace(-1, 1, n, dtype=torch.float64).sin().requires_grad_(options.get("grad", False))


@pytest.mark.parametrize("n", [1, 2, 7, 300, 5000])
def test_a_class_is_made_like_rows_and_like_elements(n):
    lifted: Any = lift(echoes, verify="off")
    arguments = (signal(n), [3, 5], torch.tensor(0.4, dtype=torch.float64))
    for _ in range(2):
        torch.testing.assert_close(lifted(*arguments), echoes(*arguments), rtol=0, atol=1e-14)
    if n > 2:
        assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_gradients_flow_through_each_of_them():
    x, gain = signal(40, grad=True), torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    lifted = lift(echoes, verify="off")
    weights = torch.arange(40)
    for _ in range(2):
        wanted = torch.autograd.grad((echoes(x, [3, 5], gain) * weights).sum(), (x, gain))
        given = torch.autograd.grad((lifted(x, [3, 5], gain) * weights).sum(), (x, gain))
        torch.testing.assert_close(given, wanted)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_one_function_of_numbers_texts_and_lists(n):
    numbers, words = [3, -1, 4, 1, 5][:n], ["pi", "e", "tau", "phi", "i"][:n]
    rows = [[0.5, float(k), 2.0] for k in range(n)]
    lifted = lift(spreads, verify="off")
    for _ in range(2):
        assert outcome(lifted, (numbers, words, rows)) == outcome(spreads, (numbers, words, rows))


def test_what_is_raised_in_one_of_them():
    arguments = [3, 1], ["pi", ""], [[1.0], []]
    assert outcome(lift(spreads, verify="off"), arguments) == outcome(spreads, arguments)


@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_objects_are_called(n):
    gains = torch.rand(4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(n)) * 3
    arguments = gains.requires_grad_(), signal(n), 0.7
    lifted: Any = lift(controlled, verify="off")
    for _ in range(2):
        wanted, given = outcome(controlled, arguments), outcome(lifted, arguments)
        if n == 0:
            assert given == wanted
            continue
        torch.testing.assert_close(given, wanted, rtol=0, atol=1e-14)
        slopes = [torch.autograd.grad(one.square().sum(), gains)[0] for one in (given, wanted)]
        torch.testing.assert_close(*slopes)
    if n:
        assert {loop.decision for loop in lifted.report().loops} == {"native"}


@pytest.mark.parametrize("n", [0, 1, 2, 20])
def test_objects_in_lists_and_attributes_are_called(n):
    arguments = [0.1 * k for k in range(n)], [0.3, 0.9]
    lifted = lift(smoothed, verify="off")
    for _ in range(2):
        assert lifted(*arguments) == smoothed(*arguments)


def test_arguments_behind_a_star_are_as_many_as_there_are():
    lifted = lift(added, verify="off")
    pairs = [(k, k + 1) for k in range(6)]
    for columns in (2, 3, 2, 4, 1, 3):
        table = torch.arange(6.0 * columns).reshape(6, columns)
        wanted, given = outcome(added, (pairs, table, 6)), outcome(lifted, (pairs, table, 6))
        assert str(given) == str(wanted), columns
