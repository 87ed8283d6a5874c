"""What saves the states of generators before each call is part of what batched code takes."""

import time

import numpy as np

from looplift import lift
from looplift.runtime import dispatch


def noise(x, rng):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] + rng.normal()
    return out


def test_states_that_take_long_to_save_leave_the_loop(monkeypatch):
    class Slow(dispatch.GeneratorStates):
        def __init__(self, values=()):
            time.sleep(0.02)
            super().__init__(values)

    monkeypatch.setattr(dispatch, "GeneratorStates", Slow)
    lifted, ours, theirs = lift(noise), np.random.default_rng(1), np.random.default_rng(1)
    x = np.arange(50.0)
    for _ in range(16):
        assert np.array_equal(lifted(x, ours), noise(x, theirs))
    (loop,) = lifted.report().loops
    assert (loop.decision, loop.code) == ("kept", "too-small")


def paths(n, rng):
    found = []
    for _ in range(n):
        value = 100.0
        for _ in range(12):
            value *= 1 + 0.01 * rng.normal()
            if value > 101.0:
                break
        found.append(value)
    return found


def test_the_reason_tells_what_is_drawn():
    lifted = lift(paths)
    assert lifted(5, np.random.default_rng(1)) == paths(5, np.random.default_rng(1))
    assert "'rng.normal' draws random numbers, and their order must stay" in str(lifted.report())
