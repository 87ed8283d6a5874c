"""A call in; its seconds out, without those in which something was compiled, or other processes had the processor.

On a busy machine a call of some milliseconds is often interrupted for longer than it takes. Where the system took the
processor from this thread, and the thread never waited for anything by itself, it worked all along when it had it: its
own time is what the call takes. Else nobody knows, and the time that passed counts.
"""

from __future__ import annotations

import time

from looplift.runtime.patience import compiling

try:
    import resource
except ImportError:  # a system that is no Unix
    resource = None
_OF_THREAD = getattr(resource, "RUSAGE_THREAD", None)  # Linux alone has it


class Stopwatch:
    """Runs from when it is made."""

    __slots__ = ("_compiled", "_forced", "_start", "_waited", "_worked")

    def __init__(self) -> None:
        self._compiled, (self._forced, self._waited) = compiling.seconds, _switches()
        self._worked = time.thread_time()
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """What the calls since then have taken."""
        compiled = compiling.seconds - self._compiled
        passed = time.perf_counter() - self._start - compiled
        forced, waited = _switches()
        if compiled or forced == self._forced or waited != self._waited:
            return passed
        return min(passed, time.thread_time() - self._worked)


def _switches() -> tuple[int, int]:
    """How often this thread lost the processor, and how often it gave it away, as it waited for something."""
    if resource is None or _OF_THREAD is None:
        return 0, 0
    used = resource.getrusage(_OF_THREAD)
    return used.ru_nivcsw, used.ru_nvcsw
