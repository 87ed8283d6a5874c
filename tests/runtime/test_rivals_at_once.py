"""Another form of code that gains little over its loop has its turn at once, where calls take long."""

from __future__ import annotations

import time

import pytest

from looplift import lift
from looplift.base.report import LoopRecord
from looplift.runtime import trials
from looplift.runtime.rivals import Times
from looplift.runtime.trials import Trial
from looplift.runtime.variants import RegionCode
from looplift.runtime.verification import Clock, ended_in


def summed(x):
    total = 0
    for v in x:
        time.sleep(0.02)
        total += v
    return total


def form(name, seen, seconds):
    lines = [f"seen.append({name!r})", f"time.sleep({seconds})", "return sum(x)"]
    return RegionCode(lines, {"seen": seen, "time": time}, decisions=[LoopRecord("", 0, "lanes")])


def test_the_other_form_runs_within_a_few_calls(stand_in, monkeypatch):
    monkeypatch.setattr(trials, "UNDISTURBED", 0.01)
    seen = []

    def rival(values):
        return form("other", seen, 0.001)

    text = ["seen.append('first')", "time.sleep(0.05)", "return sum(x)"]
    options = {"rival": rival, "expected": lambda values: 0.001, "namespace": {"seen": seen, "time": time}}
    stand_in.answer("summed", *text, **options)
    lifted = lift(summed)
    for _ in range(10):
        assert lifted([1, 2, 3, 4]) == 10
    assert seen[-1] == "other" and seen.index("other") <= 4, seen
    assert "as compiled code" in str(lifted.report())


@pytest.mark.parametrize(
    ("batched", "written", "is_no_slower"),
    [([0.2, 0.3], [0.25], True), ([0.3, 0.3], [0.25], False), ([0.2], [0.25], False), ([0.02, 0.02], [0.03], False),
     ([0.2, 0.2], [], False)],
)  # fmt: skip
def test_what_is_no_slower_in_calls_that_nothing_disturbs(batched, written, is_no_slower):
    assert Trial(None, batched=batched, written=written).is_no_slower == is_no_slower


@pytest.mark.parametrize(
    ("variant", "other", "share"),
    [([0.3, 0.3], [0.03], 0.1), ([0.3], [0.03], None), ([0.3, 0.3], [0.15], None), ([0.003, 0.003], [0.0003], None)],
)
def test_one_call_of_the_other_form_is_enough_where_it_is_faster_by_far(variant, other, share):
    assert Times(variant, other).share() == (share if share is None else pytest.approx(share))


class Looked:
    """A loop whose iterations take so many seconds."""

    def __init__(self, seconds, count):
        self.seconds, self.count = seconds, count

    def clocked(self, clock: Clock):
        for _ in clock(range(self.count)):
            time.sleep(self.seconds) if self.seconds else None
        while clock.holds():
            break
        return self.count


@pytest.mark.parametrize(("seconds", "count", "is_known"), [(0.005, 4, True), (0, 2000, False)])
def test_a_loop_under_the_clock_tells_what_it_takes_unless_it_looks_at_it_too_often(seconds, count, is_known):
    program = Looked(seconds, count)
    ended = ended_in(program, (), 10.0)  # pyright: ignore[reportArgumentType]
    assert ended is not None and ended[0] == count
    assert (ended[1] is not None) == is_known
    assert ended[1] is None or ended[1] >= seconds * count
