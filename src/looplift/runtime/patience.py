"""How long a region is compiled for ever new kinds of arguments, against how long its loop has run meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from looplift.base.data import dataclass

AT_ONCE = 2.0
"""Seconds."""


class Compiling(threading.local):
    """What this thread has spent on compiling so far, in seconds: no part of what a loop takes.

    ``may_wait``: whether libraries of what it compiles now may come later.
    """

    seconds = 0.0
    may_wait = False


compiling = Compiling()


@dataclass(eq=False)
class Patience:
    """After the first seconds, the loop must have run for as long as the last variant took to compile.

    In all, no more than twice the time of the best choice is lost (the ski-rental rule: Karlin, Manasse, Rudolph and
    Sleator, "Competitive snoopy caching", 1988). Times are in seconds.
    """

    compiled: float = 0.0
    last: float = 0.0
    waited: float = 0.0

    @property
    def is_over(self) -> bool:
        return self.compiled > AT_ONCE and self.waited < self.last

    @contextmanager
    def compiling(self, *, may_wait: bool = False) -> Iterator[None]:
        start, before = time.perf_counter(), compiling.seconds
        compiling.may_wait, waited = may_wait, compiling.may_wait
        try:
            yield
        finally:
            compiling.may_wait = waited
            self.last, self.waited = time.perf_counter() - start, 0.0
            self.compiled += self.last
            compiling.seconds = before + self.last

    def wait(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Run the loop as it is."""
        start = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            self.waited += time.perf_counter() - start
