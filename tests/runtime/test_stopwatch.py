"""What a call takes, whatever other processes do meanwhile."""

import time

import pytest

from looplift.runtime import stopwatch
from looplift.runtime.patience import Patience
from looplift.runtime.stopwatch import Stopwatch


def work():
    start = time.thread_time()
    while time.thread_time() - start < 0.2:
        pass


def test_a_call_that_waits_takes_as_long_as_it_waits():
    watch = Stopwatch()
    time.sleep(0.1)
    assert watch.seconds() >= 0.1


def test_what_is_compiled_meanwhile_does_not_count():
    watch = Stopwatch()
    with Patience().compiling():
        time.sleep(0.2)
    assert 0 <= watch.seconds() < 0.1


@pytest.mark.parametrize(
    ("forced", "waited", "counts"),
    [(0, 0, True), (3, 0, False), (0, 1, True), (3, 1, True)],  # of what was waited for nobody knows how long it took
)
def test_time_in_which_others_had_the_processor_does_not_count(monkeypatch, forced, waited, counts):
    switches = iter([(5, 7), (5 + forced, 7 + waited)])
    monkeypatch.setattr(stopwatch, "_switches", lambda: next(switches))
    watch = Stopwatch()
    time.sleep(0.1)  # stands for others
    assert (watch.seconds() >= 0.1) is counts


@pytest.mark.skipif(stopwatch._OF_THREAD is None, reason="the system does not tell")
def test_to_wait_is_a_switch_of_its_own():
    _, before = stopwatch._switches()
    time.sleep(0.01)
    assert stopwatch._switches()[1] > before


def test_a_system_that_does_not_tell(monkeypatch):
    monkeypatch.setattr(stopwatch, "_OF_THREAD", None)
    watch, start = Stopwatch(), time.perf_counter()
    work()
    assert watch.seconds() == pytest.approx(time.perf_counter() - start, abs=0.05)
