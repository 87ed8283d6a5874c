"""A variant whose library is being compiled in, what its loop gives meanwhile out, where that is short.

To compile a kernel takes longer than many a loop. So the first call of a region starts the compiler, and runs the loop
as written if it ends soon; a longer one, and all later calls, wait for the library.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from looplift.base.errors import NotLiftable
from looplift.runtime.patience import compiling
from looplift.runtime.variants import RegionCode, build_function
from looplift.runtime.verification import Outcome, Verdict, short_loop

if TYPE_CHECKING:
    from looplift.runtime.dispatch import Dispatcher, Variant

NOTE = "the first call ran the loop as written while its kernel was compiled"

_waiting: list[object] = []


@contextmanager
def all_compiled() -> Iterator[None]:
    """Where calls are to show what compiled code does: they wait for it, in all threads."""
    _waiting.append(None)
    try:
        yield
    finally:
        _waiting.pop()


def meanwhile(dispatcher: Dispatcher, variant: Variant, code: RegionCode, values: dict[str, Any]) -> Outcome | None:
    """None where the variant is what is to run now: its libraries are there, or the loop takes too long."""
    is_first = not variant.is_awaited and not _waiting
    if is_first and any(made.is_coming() for made in code.awaited().values()):
        outcome = short_loop(dispatcher.program, code, values)
        if outcome is not None:
            dispatcher.accept(variant, NOTE)
            variant.is_awaited, variant.seconds = True, outcome.verdict.seconds
            return outcome
    return _settled(dispatcher, variant, code, values)


def _settled(dispatcher: Dispatcher, variant: Variant, code: RegionCode, values: dict[str, Any]) -> Outcome | None:
    """Let a variant run its library; where there will be none, what the loop gives."""
    start = time.perf_counter()
    try:
        code.settle()
        compiling.seconds += time.perf_counter() - start
        variant.is_awaited = False  # not before: other threads would begin anew
        variant.call = build_function(dispatcher.program, code, values, variant.number)
    except NotLiftable as refusal:
        variant.is_awaited = False
        dispatcher.refuse(variant, values, refusal)
        dispatcher.records.refused(dispatcher.program, refusal, certain=True)
        dispatcher.install()
        return Outcome(
            Verdict(None), dispatcher.program.original(*(values[name] for name in dispatcher.program.arguments))
        )
    return None
