"""A variant whose library is being compiled in, what its loop gives meanwhile out, where that is short.

To compile a kernel takes longer than many a loop. So the first call of a region starts the compiler, and runs the loop
as written if it ends soon. A longer one, and all later calls, wait for the library; what is compared with the loop runs
that meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from looplift.base.errors import NotLiftable
from looplift.runtime.patience import compiling
from looplift.runtime.variants import RegionCode, build_function
from looplift.runtime.verification import BUDGET, Outcome, Ran, Verdict, run_loop

if TYPE_CHECKING:
    from looplift.runtime.dispatch import Dispatcher, Variant

NOTE = "the first call ran the loop as written while its kernel was compiled"

LONG = 1.0
"""Seconds: a longer loop may take as long, compiled in a moment, as it takes to compile it well."""

_waiting: list[object] = []


@contextmanager
def all_compiled() -> Iterator[None]:
    """Where calls are to show what compiled code does: they wait for it, in all threads."""
    _waiting.append(None)
    try:
        yield
    finally:
        _waiting.pop()


def meanwhile(
    dispatcher: Dispatcher, variant: Variant, code: RegionCode, values: dict[str, Any]
) -> tuple[Outcome | None, Ran | None]:
    """What a call gives, None where the variant is what is to run now; and what the loop did while others compiled."""
    ran = None
    if _is_coming(code):
        ran = run_loop(dispatcher.program, code, values, BUDGET, partial(_is_coming, code))
        if not variant.is_awaited and not _waiting and (outcome := _of_loop(dispatcher, code, values, ran)) is not None:
            dispatcher.accept(variant, NOTE)
            variant.is_awaited, variant.seconds = True, outcome.verdict.seconds
            return outcome, ran
    return _settled(dispatcher, variant, code, values, best=ran is not None and _takes_long(ran)), ran


def _is_coming(code: RegionCode) -> bool:
    return any(made.is_coming() for made in code.awaited().values())


def _of_loop(dispatcher: Dispatcher, code: RegionCode, values: dict[str, Any], ran: Ran) -> Outcome | None:
    """What the loop gives, where it ended soon and in no exception; None where it did not, or had to run once more
    though there is something better by now."""
    run, verdict = ran
    if run is None or run.error is not None:
        return None
    if not (code.mutated or code.sets or code.random or run.text or run.warned):
        return Outcome(verdict, run.result)
    if run.seconds > BUDGET or not _is_coming(code):
        return None
    return Outcome(verdict, _as_written(dispatcher, values))


def _takes_long(ran: Ran) -> bool:
    """Whether what was compiled in a moment may take longer than to wait for the best."""
    run, verdict = ran
    return run is None and (verdict.seconds is None or verdict.seconds > LONG)


def _as_written(dispatcher: Dispatcher, values: dict[str, Any]) -> Any:
    return dispatcher.program.original(*(values[name] for name in dispatcher.program.arguments))


def grow(dispatcher: Dispatcher, variant: Variant, code: RegionCode, arguments: tuple[Any, ...]) -> None:
    """Let a variant run its best libraries, where they are there by now."""
    late = dict(code.growing)
    if all(made.has_grown() for made in late.values()):
        with suppress(NotLiftable):
            code.namespace |= {name: made.made(best=True) for name, made in late.items()}
            variant.call = build_function(dispatcher.program, code, dispatcher.values_of(arguments), variant.number)
        code.growing = {}
        dispatcher.install()


def _settled(
    dispatcher: Dispatcher, variant: Variant, code: RegionCode, values: dict[str, Any], *, best: bool
) -> Outcome | None:
    """Let a variant run its library; where there will be none, what the loop gives."""
    start = time.perf_counter()
    try:
        code.settle(best=best)
        compiling.seconds += time.perf_counter() - start
        variant.is_awaited = False  # not before: other threads would begin anew
        variant.call = build_function(dispatcher.program, code, values, variant.number)
    except NotLiftable as refusal:
        variant.is_awaited = False
        dispatcher.refuse(variant, values, refusal)
        dispatcher.records.refused(dispatcher.program, refusal, certain=True)
        dispatcher.install()
        return Outcome(Verdict(None), _as_written(dispatcher, values))
    return None
