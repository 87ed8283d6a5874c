import signal
import sys
import time

import pytest

from looplift.verify.limit import within


def spin(seconds=None):
    start = time.perf_counter()
    while seconds is None or time.perf_counter() - start < seconds:
        pass
    return "done"


def test_a_call_in_time_gives_its_result():
    assert within(60.0, lambda: spin(0.0)) == "done"


def test_a_call_that_does_not_end_is_stopped():
    assert within(0.05, spin) is None


def test_an_alarm_that_is_lost_in_a_finalizer_comes_again_and_nothing_is_printed(monkeypatch):
    ended, reported = [], []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)

    class Slow:
        def __del__(self):
            ended.append(spin(0.5))

    def call():
        Slow()
        assert not ended  # the finalizer was stopped, and Python ignored that
        spin()

    hook = sys.unraisablehook
    assert within(0.2, call) is None
    assert not reported and sys.unraisablehook is hook


def test_other_exceptions_that_are_lost_are_reported(monkeypatch):
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: reported.append(lost.exc_type))

    class Wrong:
        def __del__(self):
            raise ValueError

    assert within(60.0, lambda: Wrong() and None) is None
    assert reported == [ValueError]


def test_the_handler_that_was_there_is_back():
    before = signal.getsignal(signal.SIGALRM)
    within(0.05, spin)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_exceptions_of_the_call_are_its_own():
    with pytest.raises(ZeroDivisionError):
        within(60.0, lambda: 1 / 0)
