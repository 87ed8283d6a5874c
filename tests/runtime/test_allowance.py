"""How long pieces of a region, and other forms of it, may be compiled beside a short loop."""

from __future__ import annotations

import time

import pytest
import torch

from looplift import lift
from looplift.runtime import patience
from looplift.runtime.patience import FREE, Allowance


def work(seconds):
    """Use this thread's time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def steps(x, n):
    for k in range(n):
        print(end="")
        out = []
        for v in x:
            out.append(v + k)
        x = torch.stack(out)
    return x


def test_what_was_spent_is_over_until_the_loop_ran_as_long():
    kept = Allowance(spent=FREE)
    assert not kept.is_over
    kept.spent += 0.02
    assert kept.is_over
    with kept.running():
        assert kept.is_over
        work(0.03)
        assert not kept.is_over
    assert not kept.is_over and 0.03 <= kept.ran < 1.0


def test_what_is_spent_inside_of_the_loop_is_no_part_of_what_it_ran():
    kept = Allowance()
    with kept.running(), kept.running():
        with kept.spending(), kept.spending():
            work(0.02)
    assert 0.02 <= kept.spent < 1.0 and kept.ran < kept.spent / 2


def test_a_loop_that_raises_has_run_too():
    kept = Allowance()
    with pytest.raises(ZeroDivisionError), kept.running():
        work(0.01)
        raise ZeroDivisionError
    assert kept.ran >= 0.01 and kept.owner is None


@pytest.mark.parametrize("free", [-1e6, FREE])
def test_pieces_wait_while_too_much_was_spent(stand_in, monkeypatch, free):
    monkeypatch.setattr(patience, "FREE", free)
    stand_in.refuse("steps", at=1)
    stand_in.answer("steps", "x = x + k", line=3)
    lifted = lift(steps)
    x = torch.ones(4)
    for _ in range(3):
        assert torch.equal(lifted(x, 2), steps(x, 2))
    decisions = {loop.decision for loop in lifted.report().loops}
    assert decisions == ({"kept"} if free < 0 else {"kept", "lanes"}), str(lifted.report())
    notes = " ".join(note for loop in lifted.report().loops for note in loop.notes)
    assert ("compiling had taken longer" in notes) == (free < 0)


def test_pieces_are_lifted_once_the_loop_ran_as_long(stand_in, monkeypatch):
    monkeypatch.setattr(patience, "FREE", -0.02)
    stand_in.refuse("steps", at=1)
    stand_in.answer("steps", "x = x + k", line=3)
    lifted = lift(steps)
    x = torch.ones(2000)
    for _ in range(12):
        assert torch.equal(lifted(x, 2), steps(x, 2))
    assert "lanes" in {loop.decision for loop in lifted.report().loops}, str(lifted.report())
