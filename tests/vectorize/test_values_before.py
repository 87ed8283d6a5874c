"""What the iterations before have left, stored, handed out or taken in some iterations: a tensor asks for a gradient
only if an iteration before took something that asks for one."""

import pytest
import torch
from tests.vectorize.harness import outcome

from looplift import lift
from looplift.base.compare import difference


def sums_before(y, m, k):
    out, run = torch.ones(len(y), len(y), dtype=y.dtype), torch.zeros(len(y), dtype=y.dtype)
    for i in range(len(y)):
        if m[i]:
            out[i] = run
            run = run + y
    return out


def sums_at_other_times(y, m, k):
    out, run = torch.ones(len(y), len(y), dtype=y.dtype), torch.zeros(len(y), dtype=y.dtype)
    for i in range(len(y)):
        if m[i]:
            out[i] = run
        if k[i]:
            run = run + y
    return out


def recurrences_before(y, m, k):
    out, run = torch.ones(len(y), dtype=y.dtype), torch.zeros((), dtype=y.dtype)
    for i in range(len(y)):
        if m[i]:
            out[i] = run * 2
        if m[i]:
            run = 0.5 * run + y[i]
    return out


def dropped_at_times(y, m, k):
    out, run = torch.ones(len(y), len(y), dtype=y.dtype), torch.zeros(len(y), dtype=y.dtype)
    for i in range(len(y)):
        if m[i]:
            out[i] = run
        run = run + y if k[i] else torch.ones(len(y), dtype=y.dtype)
    return out


def taken_before(y, m, k):
    out, last = torch.ones(len(y), dtype=y.dtype), torch.zeros((), dtype=y.dtype)
    for i in range(len(y)):
        if m[i]:
            out[i] = last
        if k[i]:
            last = y[i]
    return out


def choices_before(y, m, k):
    out, before = torch.ones(len(y), dtype=y.dtype), torch.zeros((), dtype=y.dtype)
    for i in range(len(y)):
        if m[i]:
            out[i] = before
        before = y[i] * 2 if k[i] else torch.ones((), dtype=y.dtype)
    return out


def steps_before(y, m, k):
    out, run = torch.ones(len(y), 3, dtype=y.dtype), torch.zeros(3, dtype=y.dtype)
    for i in range(len(y)):
        if m[i]:
            out[i] = run
        if k[i]:
            run = torch.tanh(run + y[i])
    return out


def steps_handed_out(y, m, k):
    out, run = [], torch.zeros((), dtype=y.dtype)
    for i in range(len(y)):
        out.append(run * 2)
        if m[i]:
            run = torch.tanh(run + y[i])
    return out


def last_step_taken(y, m, k):
    last, run = torch.ones(3, dtype=y.dtype), torch.zeros(3, dtype=y.dtype)
    for i in range(len(y)):
        if m[i]:
            last = run * 1.5
        run = torch.tanh(run + y[i])
    return last


def last_choice_taken(y, m, k):
    last = torch.ones(len(y), dtype=y.dtype)
    for i in range(len(y)):
        if m[i]:
            last = y * 2 if k[i] else torch.ones(len(y), dtype=y.dtype)
    return last


def sums_of_sums(y, m, k):
    first, second = torch.zeros(len(y), dtype=y.dtype), torch.zeros(len(y), dtype=y.dtype)
    for i in range(len(y)):
        if k[i]:
            second = second + first
        if m[i]:
            first = first + y
    return second


def stored_after_inner_steps(y, m, k):
    out = torch.ones(len(y), dtype=y.dtype)
    for i in range(len(y)):
        t = torch.zeros((), dtype=y.dtype)
        for j in range(len(y)):
            t = torch.tanh(t + y[j]) if m[i] else torch.sin(t)
        if k[i]:
            out[i] = t
    return out


def added_after_inner_steps(y, m, k):
    total = torch.zeros((), dtype=y.dtype)
    for i in range(len(y)):
        t = torch.zeros((), dtype=y.dtype)
        for j in range(len(y)):
            if m[i]:
                t = torch.tanh(t + y[j])
        if k[i]:
            total = total + t
    return total


PROGRAMS = (
    sums_before,
    sums_at_other_times,
    recurrences_before,
    dropped_at_times,
    taken_before,
    choices_before,
    steps_before,
    steps_handed_out,
    last_step_taken,
    last_choice_taken,
    sums_of_sums,
    stored_after_inner_steps,
    added_after_inner_steps,
)
MASKS = ("11111", "00000", "10000", "00001", "00100", "10010", "01101", "1", "0", "10", "01", "11")
OTHERS = {5: ("10101", "00001", "00000"), 2: ("10", "01"), 1: ("1", "0")}


def flags(text):
    return torch.tensor([letter == "1" for letter in text])


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_there_where_the_loop_has_them(program):
    for mask in MASKS:
        for other in OTHERS[len(mask)]:
            y = torch.linspace(-1.0, 2.0, len(mask), dtype=torch.float64)
            values = [y, flags(mask), flags(other)]
            wanted = outcome(program, values, gradients=True)
            lifted = lift(program, verify="off", backend="torch")
            why = difference(outcome(lifted, values, gradients=True), wanted, magnitude=1.0, path="call")
            assert not why, f"{mask}, {other}: {why}\n{lifted.source}"


@pytest.mark.parametrize(
    ("program", "decision"),
    (
        (sums_before, "scan"),
        (sums_at_other_times, "scan"),
        (recurrences_before, "scan"),
        (dropped_at_times, "scan"),
        (choices_before, "lanes"),
        (steps_before, "sequential"),
        (last_step_taken, "sequential"),
        (stored_after_inner_steps, "lanes"),
        (added_after_inner_steps, "lanes"),
    ),
)
def test_they_are_lifted(program, decision):
    lifted = lift(program, verify="off", backend="torch")
    for mask, other in (("01101", "11010"), ("00111", "10101"), ("01011", "11110")):
        values = [torch.linspace(-1.0, 2.0, 5, dtype=torch.float64), flags(mask), flags(other)]
        why = difference(outcome(lifted, values, gradients=True), outcome(program, values, gradients=True))
        assert not why, f"{why}\n{lifted.source}"
    assert lifted.report().loops[0].decision == decision, lifted.report()
