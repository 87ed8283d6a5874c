"""A turn of the loop that takes longer than batched code by far is ended, and the batched code gives the result."""

import pytest
import torch

from looplift import lift
from looplift.runtime import dispatch, trials
from looplift.runtime.second import has_no_effects
from looplift.runtime.trials import Trial
from looplift.runtime.verification import ended_in


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


def lifted_once(function, *arguments):
    """A lifted function after its first call, the region in it, and the variant that ran."""
    lifted = lift(function, backend="torch")
    lifted(*arguments)
    (region,) = lifted.__looplift_state__.dispatchers
    (variant,) = [one for one in region.variants if one.call is not None]
    return region, variant


@pytest.mark.parametrize("runs_out", [True, False])
def test_the_result_of_a_turn(monkeypatch, runs_out):
    x = torch.rand(50, dtype=torch.float64, requires_grad=True)
    region, variant = lifted_once(squares, x, 300)
    arguments = tuple({"x": x, "count": 300}[name] for name in region.program.arguments)
    monkeypatch.setattr(trials, "BOUNDED", 0.0)
    trial = Trial(None, batched=[1e-9 if runs_out else 1e9])
    variant.trials = {trials.size_class(arguments): trial}
    bound = trial.bound
    assert bound is not None and has_no_effects(variant, arguments)
    assert (ended_in(region.program, arguments, bound) is None) == runs_out
    got, want = region._turn_of_loop(variant, trial, arguments), squares(x, 300)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(torch.autograd.grad(got, x), torch.autograd.grad(want, x))
    assert trial.is_bounded == runs_out


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
