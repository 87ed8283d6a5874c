"""A call under a time limit, for loops that may not end on unusual values."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

SHORTEST_REPEAT = 0.25


class OutOfTime(BaseException):
    """Not an Exception: the code under the limit must not catch it."""


def within(seconds: float, call: Callable[[], T]) -> T | None:
    """The result of the call, None if it took longer. Only the main thread can be interrupted, others run on.

    What is raised in a finalizer or a callback of the garbage collector is lost, so it is raised again until the
    call has ended; nothing is printed of those that are lost.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        return call()
    running = True

    def stop(_number: int, _frame: FrameType | None) -> None:
        if running:
            raise OutOfTime

    report = sys.unraisablehook
    sys.unraisablehook = _silent_when_out_of_time(report)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, max(seconds / 4, SHORTEST_REPEAT))
            return call()
        finally:
            running = False
    except OutOfTime:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = report


def _silent_when_out_of_time(report: Callable[[sys.UnraisableHookArgs], object]) -> Callable[..., None]:
    """The hook for exceptions that can be raised nowhere, without a word of an OutOfTime."""

    def hook(lost: sys.UnraisableHookArgs) -> None:
        if not issubclass(lost.exc_type, OutOfTime):
            report(lost)

    return hook
