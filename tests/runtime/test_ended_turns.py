"""A turn of the loop that takes longer than batched code by far is ended, and the batched code gives the result."""

import pytest
import torch

from looplift import lift
from looplift.runtime import dispatch, trials
from looplift.runtime.trials import Trial


def test_what_a_turn_that_was_ended_tells():
    trial = Trial(None)
    assert trial.bound is None
    trial.took(0.02)
    bound = trial.bound
    assert bound is not None and bound == pytest.approx(trials.CLEAR_IN_ONE * 0.02, rel=0.01)
    trial.ran_out(bound)
    trial.took(0.02)
    trial.ran_out(bound)
    assert trial.passed() is True
    ended = Trial(None, is_bounded=False)
    ended.took(0.02)
    assert ended.bound is None


def squares(x, count):
    total = torch.zeros((), dtype=x.dtype)
    for _ in range(1):
        for i in range(count):
            total = total + (x[i % len(x)] * i).sin() * x[0]
    return total


def test_loops_of_which_nothing_is_known(monkeypatch):
    ends = []

    def ended_in(program, arguments, seconds, run=dispatch.ended_in):
        found = run(program, arguments, seconds)
        ends.append(found is None)
        return found

    monkeypatch.setattr(trials, "BOUNDED", 0.0)
    monkeypatch.setattr(trials, "SLOWEST", 0.0)
    monkeypatch.setattr(trials, "CLEAR_IN_ONE", 0.1)
    monkeypatch.setattr(dispatch, "ended_in", ended_in)
    lifted = lift(squares)
    x = torch.rand(50, dtype=torch.float64, requires_grad=True)
    for _ in range(6):
        got, want = lifted(x, 6000), squares(x, 6000)
        torch.testing.assert_close(got, want)
        (slope,), (wanted,) = torch.autograd.grad(got, x), torch.autograd.grad(want, x)
        torch.testing.assert_close(slope, wanted)
    assert any(ends), "no turn of the loop was ended"


def kept_values(x, seen):
    for i in range(len(x)):
        seen[i] = x[i] * 2
    return seen.sum()


def test_loops_that_write_are_not_ended(monkeypatch):
    monkeypatch.setattr(trials, "BOUNDED", 0.0)
    monkeypatch.setattr(dispatch, "ended_in", None)
    lifted = lift(kept_values)
    for _ in range(6):
        x = torch.rand(3000)
        seen, other = torch.zeros(3000), torch.zeros(3000)
        assert torch.equal(lifted(x, seen), kept_values(x, other)) and torch.equal(seen, other)
