"""How long a region and its pieces are compiled, against how long the loop has run meanwhile."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from looplift.base.data import dataclass

AT_ONCE = 3.0
"""Seconds of work."""
FREE = 3.0
"""Seconds that all pieces of a region may take at once."""


class Compiling(threading.local):
    """What this thread has spent on compiling so far, in seconds: no part of what a loop takes.

    ``may_wait``: whether libraries of what it compiles now may come later.
    """

    seconds = 0.0
    may_wait = False


compiling = Compiling()


def _work() -> float:
    """Seconds in which a processor worked for this thread, and for processes that have ended."""
    ended = os.times()
    return time.thread_time() + ended.children_user + ended.children_system


@dataclass(eq=False)
class Patience:
    """After the first seconds, the loop must have run for as long as the last variant took to compile.

    In all, no more than twice the time of the best choice is lost (the ski-rental rule: Karlin, Manasse, Rudolph and
    Sleator, "Competitive snoopy caching", 1988). Times are in seconds: of work, also of compilers that were waited for,
    as what other processes do meanwhile is nobody's fault.
    """

    compiled: float = 0.0
    last: float = 0.0
    waited: float = 0.0

    @property
    def is_over(self) -> bool:
        return self.compiled > AT_ONCE and self.waited < self.last

    @contextmanager
    def compiling(self, *, may_wait: bool = False) -> Iterator[None]:
        start, worked, before = time.perf_counter(), _work(), compiling.seconds
        compiling.may_wait, waited = may_wait, compiling.may_wait
        try:
            yield
        finally:
            compiling.may_wait = waited
            passed = time.perf_counter() - start
            self.last, self.waited = min(passed, _work() - worked), 0.0
            self.compiled += self.last
            compiling.seconds = before + passed

    def wait(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Run the loop as it is."""
        start = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            self.waited += time.perf_counter() - start


@dataclass(eq=False)
class Allowance:
    """What the pieces of a refused region and its other forms take until they run, which may be as long as the loop has
    run so far, and what is free.

    In seconds of the thread's own time: what other processes do meanwhile is nobody's fault. Only the thread that came
    first is looked at.
    """

    spent: float = 0.0
    ran: float = 0.0
    owner: int | None = None
    """The thread in which the region runs now."""
    entered: float = 0.0
    """When it came, on its own clock, if nothing had been spent so far."""
    is_spending: bool = False

    @property
    def is_over(self) -> bool:
        return self.spent > FREE and self.spent > FREE + self._ran_so_far()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Around the loop, with all that is compiled inside of it."""
        if self.owner is not None:
            yield
            return
        self.owner, self.entered = threading.get_ident(), time.thread_time() - self.spent
        try:
            yield
        finally:
            self.ran, self.owner = self._ran_so_far(), None

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Around what is no work of the loop."""
        if self.is_spending:
            yield
            return
        self.is_spending, start = True, time.thread_time()
        try:
            yield
        finally:
            self.is_spending = False
            self.spent += time.thread_time() - start

    def _ran_so_far(self) -> float:
        now = time.thread_time() - self.spent - self.entered if self.owner == threading.get_ident() else 0.0
        return self.ran + max(now, 0.0)
