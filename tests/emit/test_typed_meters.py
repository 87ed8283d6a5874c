"""Objects of the caller that hold numbers at first and tensors later, and objects that are called."""

import pytest
import torch
from torch.testing import assert_close

from looplift import lift


class Welford:
    def __init__(self):
        self.n, self.mean, self.m2 = 0, 0.0, 0.0

    def update(self, x):
        self.n += 1
        delta = x - self.mean
        self.mean += delta / self.n
        self.m2 += delta * (x - self.mean)


class Average:
    def __init__(self, decay):
        self.decay, self.value = decay, None

    def __call__(self, x):
        self.value = x if self.value is None else self.decay * self.value + (1 - self.decay) * x
        return self.value


def spread(xs):
    meter = Welford()
    for x in xs:
        meter.update(x)
    return meter.mean, (meter.m2 / meter.n) ** 0.5


def updated(meter, xs):
    for x in xs:
        meter.update(x)


def smoothed(average, xs):
    out = torch.zeros(len(xs))
    for t in range(len(xs)):
        out[t] = average(xs[t])
    return out


def last_of(xs):
    average = Average(0.5)
    for x in xs:
        last = average(x)
    return last, average.value


def decisions(lifted):
    return {one.decision for one in lifted.report().loops}


@pytest.mark.parametrize("shape", [(40,), (12, 3)])
def test_numbers_become_tensors_in_an_object_made_in_front(shape):
    lifted = lift(spread, verify="off")
    for seed in range(3):
        xs = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
        assert_close(lifted(xs), spread(xs))
    assert decisions(lifted) == {"native"}


def test_gradients_flow_through_an_object_made_in_front():
    lifted = lift(spread, verify="off")
    slopes = []
    for function in (spread, lifted):
        xs = torch.linspace(0, 1, 20, dtype=torch.float64).sin().requires_grad_()
        mean, deviation = function(xs)
        (mean * 2 + deviation).backward()
        slopes.append(xs.grad)
    assert_close(*slopes)
    assert decisions(lifted) == {"native"}


def test_an_object_that_is_given_holds_tensors_afterwards():
    lifted = lift(updated, verify="off")
    meter, expected = Welford(), Welford()
    for seed in range(3):  # the second call meets tensors where the first one met numbers
        xs = torch.randn(20, generator=torch.Generator().manual_seed(seed))
        lifted(meter, xs)
        updated(expected, xs)
        assert_close(vars(meter), vars(expected))
    assert decisions(lifted) == {"native"}


def test_an_object_that_is_called_is_told_apart_by_its_class_alone():
    lifted = lift(smoothed, verify="off")
    for k in range(6):
        xs = torch.randn(9, generator=torch.Generator().manual_seed(k))
        average, expected = Average(k / 8), Average(k / 8)
        assert_close(lifted(average, xs), smoothed(expected, xs))
        assert_close(vars(average), vars(expected))
    assert decisions(lifted) <= {"native", "scan"}
    assert not any("ever new kinds" in note for one in lifted.report().loops for note in one.notes)


def test_an_object_that_is_called_keeps_the_class_that_it_was_seen_with(monkeypatch):
    lifted = lift(smoothed, verify="off")
    xs = torch.arange(5.0)
    assert_close(lifted(Average(0.5), xs), smoothed(Average(0.5), xs))
    monkeypatch.setattr(Average, "__call__", lambda self, x: x + self.decay)
    assert_close(lifted(Average(0.5), xs), smoothed(Average(0.5), xs))


def test_one_tensor_under_two_names_is_handed_out_as_one():
    lifted = lift(last_of, verify="off")
    last, value = lifted(torch.arange(6.0))
    last += 1
    assert value is last
    assert decisions(lifted) == {"native"}


def test_the_first_call_of_an_object_is_verified():
    lifted = lift(smoothed, verify="first")
    xs, average, expected = torch.arange(7.0), Average(0.25), Average(0.25)
    for _ in range(3):
        assert_close(lifted(average, xs), smoothed(expected, xs))
        assert_close(vars(average), vars(expected))
