"""Ctrl-C in typed programs: in long loops, in short loops of functions that are called again and again."""

import os
import signal
import threading

import pytest

from looplift import lift


def long_loops(u, n):
    for _ in range(n):
        for i in range(1, len(u)):
            u[i] = u[i - 1] + 1.0
    return u


def short_loops_of_a_function(u, n):
    def step(k):
        total = 0.0
        for i in range(3):
            total += u[i] * k
        return total

    total = 0.0
    for k in range(n):
        total += step(k % 7)
    return total


def loops_of_a_function_that_is_called_once_each_time(u, n):
    def step(k):
        total = 0
        while total < 1000:
            total += k + total % 3
        return total

    count = 0
    while count < n:
        count += 1 + step(1) % 2
    return count


@pytest.fixture(autouse=True)
def sees_interrupts():
    """Processes that run a share of the tests ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "function, n",
    [
        (long_loops, 5 * 10**9), (short_loops_of_a_function, 5 * 10**9),
        (loops_of_a_function_that_is_called_once_each_time, 5 * 10**7),
    ],
)  # fmt: skip
def test_ctrl_c_stops_a_program(function, n):
    lifted, before = lift(function, verify="off"), [1.0, 2.0, 3.0, 4.0]
    values = list(before)
    lifted(list(before), 1)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        lifted(values, n)
    timer.join()
    assert values == before
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
