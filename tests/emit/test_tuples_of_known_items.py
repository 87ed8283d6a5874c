"""``tuple(...)`` over what is known item by item, as states of several numbers that are stepped together."""

import math

import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def pendulum(state, dt, steps):
    path = [state]
    for _ in range(steps):
        slope = (state[1], -math.sin(state[0]))
        state = tuple(s + dt * d for s, d in zip(state, slope))
        path.append(state)
    return path


def oscillator(y, damping):
    return (y[1], damping * (1 - y[0] ** 2) * y[1] - y[0])


def runge_kutta(y, damping, dt, steps):
    for _ in range(steps):
        k1 = oscillator(y, damping)
        k2 = oscillator(tuple(a + dt / 2 * b for a, b in zip(y, k1)), damping)
        k3 = oscillator(tuple([a + dt / 2 * b for a, b in zip(y, k2, strict=True)]), damping)
        k4 = oscillator(tuple(a + dt * b for a, b in zip(y, k3)), damping)
        y = tuple(a + dt / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4))
    return y


def swarm(places, speeds, dt, steps):
    for _ in range(steps):
        for i in range(len(places)):
            places[i] = tuple(x + dt * v for x, v in zip(places[i], speeds[i]))
    return places


def numbered(values, steps):
    for _ in range(steps):
        values = tuple(x * 0.5 + i for i, x in enumerate(values, 2))
    return values


def turned(values, steps):
    for _ in range(steps):
        values = tuple(0.5 * x for x in reversed(values))
    return values


def neighbours(values, steps):
    for _ in range(steps):
        values = tuple(0.5 * values[i] + values[(i + 1) % 3] for i in range(len(values)))
    return values


def half(x):
    return x * 0.5


def mapped(values, steps):
    for _ in range(steps):
        values = tuple(map(half, values))
    return values


def paired(first, second, steps):
    pairs = (first, second)
    for k in range(steps):
        pairs = tuple(zip((first, k), (second, 0.5)))
    return pairs


def of_two_kinds(state, steps):
    for _ in range(steps):
        state = tuple(2 * x for x in reversed(state))
    return state


def printed(x):
    print(x)
    return x + 1.0


def in_order(values, steps):
    for _ in range(steps):
        values = tuple(printed(x) - printed(-x) for x in values)
    return values


def divided(state, rate, steps):
    for k in range(steps):
        state = tuple(s / (3 - k * r) for s, r in zip(state, rate))
    return state


def unequal(state, others, steps):
    for _ in range(steps):
        state = tuple(a + b for a, b in zip(state, others, strict=True))
    return state


def of_any_length(words, steps):
    longest = ()
    for k in range(steps):
        here = tuple(x + k for x in words)
        if len(here) + k % 2 > len(longest):
            longest = tuple(range(k)) if k % 3 else here
    return longest


def longer(state, steps):
    for k in range(steps):
        state = tuple(x + 1 for x in (*state, k))
    return state


CASES = {
    "pendulum": (pendulum, lambda: ((1.0, 0.0), 0.01, 50)),
    "runge_kutta": (runge_kutta, lambda: ((2.0, 0.0), 1.0, 0.01, 40)),
    "runge_kutta_of_integers": (runge_kutta, lambda: ((2, 0), 1, 0.01, 40)),
    "swarm": (swarm, lambda: ([(1.0, 2.0), (3.0, 4.0)] * 5, [(0.1, 0.2), (0.3, 0.4)] * 5, 0.1, 10)),
    "numbered": (numbered, lambda: ((1.0, 2.0, 3.0), 20)),
    "numbered_integers": (numbered, lambda: ((1, 2, 3), 20)),
    "turned": (turned, lambda: ((1.0, 2.0, 3.0), 21)),
    "neighbours": (neighbours, lambda: ((1.0, 2.0, 3.0), 20)),
    "mapped": (mapped, lambda: ((1.0, 2.0, 3.0), 20)),
    "paired": (paired, lambda: (1.5, 2, 20)),
    "of_two_kinds": (of_two_kinds, lambda: ((1, 2.0), 20)),
    "in_order": (in_order, lambda: ((1.0, 2.0), 3)),
    "divided": (divided, lambda: ((1.0, 2.0), (0.25, 0.5), 5)),
    "of_any_length": (of_any_length, lambda: ((1, 2), 8)),
    "longer": (longer, lambda: ((1, 2), 5)),
    "never": (pendulum, lambda: ((1.0, 0.0), 0.01, 0)),
    "not_a_number": (turned, lambda: ((math.nan, math.inf, -0.0), 5)),
}
NATIVE = CASES.keys() - {"of_two_kinds", "in_order", "of_any_length", "longer", "paired"}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
def test_values_and_text_are_those_of_the_loop(name, backend, capsys):
    function, make = CASES[name]
    arguments = make()
    wanted = (function(*arguments), arguments)
    text = capsys.readouterr().out
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(3):
        arguments = make()
        found = (lifted(*arguments), arguments)
        assert repr(found) == repr(wanted)
        assert capsys.readouterr().out == text


@pytest.mark.parametrize("name", sorted(NATIVE))
def test_they_are_compiled(name):
    function, make = CASES[name]
    lifted = lift(function, verify="off")
    lifted(*make())
    assert {record.decision for record in lifted.report().loops} == {"native"}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "arguments"),
    [(divided, ((1.0, 2.0), (1.0, 0.5), 5)), (unequal, ((1.0, 2.0), (1.0, 2.0, 3.0), 5))],
)
def test_exceptions_are_those_of_the_loop(function, arguments, backend):
    with pytest.raises((ZeroDivisionError, ValueError)) as wanted:
        function(*arguments)
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        with pytest.raises(type(wanted.value)) as found:
            lifted(*arguments)
        assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("backend", BACKENDS)
def test_states_of_tensors_have_their_gradients(backend):
    def last(function, x):
        ((a, b), *_) = function((x, 2 * x), 6), 0
        return torch.autograd.grad((a**2 + b).sum(), x)[0], a, b

    x = torch.linspace(-1, 1, 5, dtype=torch.float64, requires_grad=True)
    lifted = lift(turned, backend=backend, verify="off")
    for one, other in zip(last(lifted, x), last(turned, x), strict=True):
        assert torch.allclose(one, other, rtol=1e-12)
