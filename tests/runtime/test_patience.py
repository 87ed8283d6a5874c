"""Ever new kinds of arguments."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
import torch

from looplift import lift
from looplift.runtime import patience
from looplift.runtime.patience import Patience


def doubled(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] * 2
    return out


def test_the_first_seconds_are_free_then_the_loop_must_have_run_for_as_long_as_a_variant_took():
    kept = Patience(compiled=patience.AT_ONCE, last=1.0)
    assert not kept.is_over
    with kept.compiling():
        pass
    assert kept.is_over
    kept.last = 1e-9
    assert kept.wait(doubled, (torch.ones(3),)).tolist() == [2.0, 2.0, 2.0]
    assert not kept.is_over


def test_what_other_processes_do_meanwhile_is_no_work():
    kept, before = Patience(), patience.compiling.seconds
    with kept.compiling():
        time.sleep(0.2)
    assert kept.last < 0.1 and patience.compiling.seconds - before > 0.1
    with kept.compiling():
        subprocess.run([sys.executable, "-c", "sum(range(10**7))"], check=True)
    assert kept.compiled > 0.03


def test_a_loop_that_raises_has_run_as_well():
    kept = Patience(compiled=2 * patience.AT_ONCE, last=1e-9)
    with pytest.raises(ZeroDivisionError):
        kept.wait(lambda: 1 / 0, ())
    assert not kept.is_over


def test_calls_of_other_kinds_run_as_written_meanwhile(monkeypatch):
    monkeypatch.setattr(patience, "AT_ONCE", 0.0)
    lifted = lift(doubled, verify="off")
    kinds = (torch.float32, torch.float64, torch.int64, torch.int32, torch.bfloat16)
    for dtype in kinds:
        x = torch.arange(4).to(dtype)
        assert torch.equal(lifted(x), doubled(x))
    (loop,) = lifted.report().loops
    assert loop.decision == "lanes"
    assert any("new kinds of arguments" in note for note in loop.notes)
    assert torch.equal(lifted(torch.arange(4.0)), doubled(torch.arange(4.0)))
