"""Objects that can be called because their class has a ``__call__``: what they run is read as a method is."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class Shift:
    def __init__(self, by):
        self.by = by

    def __call__(self, row):
        return row + self.by


class Squash(Shift):
    def __call__(self, row, *, power=1):
        return torch.tanh(row * self.by) ** power


class Pipeline:
    def __init__(self, *steps):
        self.steps = list(steps)

    def __call__(self, row):
        for step in self.steps:
            row = step(row)
        return row


class Padding:
    def __init__(self, pad):
        self.pad = pad

    def __call__(self, batch):
        longest = max(len(row) for row in batch)
        out = torch.full((len(batch), longest), self.pad)
        for i, row in enumerate(batch):
            for j, token in enumerate(row):
                out[i, j] = token
        return out


class Holder:
    def __init__(self, call):
        self.call = call


def over_rows(call, x):
    out = []
    for i in range(len(x)):
        out.append(call(x[i]))
    return torch.stack(out)


def over_rows_of_a_holder(holder, x):
    out = []
    for i in range(len(x)):
        out.append(holder.call(x[i]))
    return torch.stack(out)


def with_keywords(call, x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = call(x[i], power=2).sum()
    return out


def lifted_loops(lifted):
    return [loop.decision for loop in lifted.report().loops]


def checked(function, lifted, call, x):
    leaf = x.clone().requires_grad_()
    wanted = function(call, leaf)
    given = lifted(call, leaf)
    assert_close(given, wanted)
    (gradient,), (expected,) = (torch.autograd.grad((one * one).sum(), leaf) for one in (given, wanted))
    assert_close(gradient, expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "call"),
    [
        (over_rows, Shift(0.5)),
        (over_rows, Pipeline(Shift(1.0), Squash(0.5), Shift(-2.0))),
        (over_rows_of_a_holder, Holder(Squash(0.5))),
        (with_keywords, Squash(0.5)),
    ],
)
def test_they_are_called_in_loops(function, call, backend):
    lifted: Any = lift(function, backend=backend)
    for rows in (4, 7):
        checked(function, lifted, call, torch.randn(rows, 5))
    assert backend == "native" or "kept" not in lifted_loops(lifted)


def test_other_objects_of_a_class_share_a_form():
    lifted: Any = lift(over_rows)
    for by in (0.5, 2.0, -1.0):
        checked(over_rows, lifted, Shift(by), torch.randn(6, 5))
    assert "kept" not in lifted_loops(lifted) and len(lifted.__looplift_state__.dispatchers[0].variants) == 1


def test_other_classes_and_other_attributes_are_noticed():
    lifted, x = lift(over_rows), torch.randn(6, 5)
    call = Pipeline(Shift(1.0), Squash(0.5))
    checked(over_rows, lifted, call, x)
    call.steps[0] = Squash(2.0)
    checked(over_rows, lifted, call, x)
    call.steps.append(Shift(torch.randn(5)))
    checked(over_rows, lifted, call, x)
    checked(over_rows, lifted, torch.sin, x)
    checked(over_rows, lifted, Shift(3), x)


def test_a_class_that_changes_is_noticed(monkeypatch):
    lifted, x = lift(over_rows), torch.randn(6, 5)
    checked(over_rows, lifted, Shift(1.0), x)
    monkeypatch.setattr(Shift, "__call__", lambda self, row: row - self.by)
    checked(over_rows, lifted, Shift(1.0), x)


def test_an_attribute_of_that_name_is_not_what_is_called():
    call = Shift(1.0)
    call.__call__ = lambda row: row * 5  # type: ignore[method-assign]
    checked(over_rows, lift(over_rows), call, torch.randn(6, 5))


def test_a_static_method_takes_no_object():
    class Doubled:
        @staticmethod
        def __call__(row):
            return row * 2

    checked(over_rows, lift(over_rows), Doubled(), torch.randn(6, 5))


def test_a_function_that_calls_one_has_its_loops():
    def collated(collate, batch):
        return collate(batch)

    lifted: Any = lift(collated)
    batch = [[3, 1, 2], [4], [], [5, 6]]
    for pad in (-1, 0):
        assert_close(lifted(Padding(pad), batch), collated(Padding(pad), batch))
    assert lifted_loops(lifted) == ["native"] * 3


def test_a_loop_that_stays_calls_one_that_is_lifted():
    class Loss:
        def __call__(self, w, x):
            total = torch.zeros(())
            for row in x:
                total = total + torch.exp(-(row * w).sum())
            return total

    def training(loss, w, x):
        w = w.clone().requires_grad_()
        for _ in range(3):
            (slope,) = torch.autograd.grad(loss(w, x), w)
            with torch.no_grad():
                w -= 0.1 * slope
        return w.detach()

    w, x = torch.randn(4), torch.randn(8, 4)
    lifted: Any = lift(training)
    for _ in range(2):
        assert_close(lifted(Loss(), w, x), training(Loss(), w, x))
