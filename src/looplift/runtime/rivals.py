"""A variant that is faster than the loop, and another form of its code in; the faster of the two at each size out.

The other form is a kernel, which passes through memory once where batched code does so for each operation, but does
not call a library that is better at its work. It is compiled when the variant has run for some time. Then both take
turns for a few calls, and the faster one runs from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.report import readable_seconds
from looplift.runtime import alternatives
from looplift.runtime.stopwatch import Stopwatch
from looplift.runtime.trials import CLEAR, CLEAR_AT_ONCE, PAIRS, Trial, size_class
from looplift.runtime.verification import Undo, verified_call

if TYPE_CHECKING:
    from looplift.runtime.dispatch import Dispatcher, Variant
    from looplift.runtime.variants import RegionCode

EARNED = 0.003
"""Seconds that a variant has run at one size, before the other form is compiled."""
TOO_LONG = 0.5
"""Seconds of a call of the variant: ten times as long, as the other form may take, is more than anyone would wait."""
HOPE = 1.25
"""What is expected of the other form may be so much too great, and no more."""
GAIN = 0.9
"""The other form takes at most so much of the time of the variant, or it does not run in its place."""
LONG, APART = 0.02, 1.3
"""Two calls are enough that take so many seconds, and differ by so much."""
MAX_SIZES = 8
MAX_MISSES = 8
"""So often the other form did not hold for the values of a call that it should have had, and it is given up."""


@dataclass
class Times:
    """Seconds of calls of one size: of the variant, and of the other form, with what was expected of that.

    ``sizes``: of the values before the first of the calls.
    """

    variant: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)
    expected: float | None = None
    sizes: dict[str, Any] = field(default_factory=dict)

    def share(self) -> float | None:
        """What the other form takes of the time of the variant; None while it is not clear."""
        if not self.other:
            return None
        share = min(self.other) / min(self.variant)
        apart = APART if min(self.variant) > LONG and min(self.other) > LONG else CLEAR
        if min(self.variant) > LONG and len(self.variant) > 1 and share * CLEAR_AT_ONCE < 1:
            return share
        is_clear = len(self.other) >= PAIRS or (len(self.other) > 1 and not 1 / apart < share < apart)
        return share if is_clear else None


@dataclass(eq=False)
class Contest:
    """``make`` compiles the other form, of which a call takes ``expected`` seconds; ``other`` is the variant that runs
    it."""

    make: Callable[..., RegionCode]
    expected: Callable[..., float]
    other: Variant | None = None
    times: dict[tuple[int, ...], Times] = field(default_factory=dict)
    turn_of_other: bool = False
    misses: int = 0


def begin(variant: Variant) -> None:
    """Have the calls of a variant timed that was found to be faster than the loop, if its code has another form."""
    code = variant.code
    if code is None or code.random or code.commits_early:
        return
    if code.rival is not None and code.expected is not None:
        variant.contest, code.rival = Contest(code.rival, code.expected), None


def challenge_at_once(dispatcher: Dispatcher, variant: Variant, trial: Trial, arguments: tuple[Any, ...]) -> None:
    """Let the other form of a variant have the next call, if those that were timed beside the loop took long."""
    contest = variant.contest
    if contest is not None and sum(trial.batched) > EARNED:
        times = Times([*trial.batched], sizes=trial.sizes)
        contest.times[size_class(arguments)] = times
        _challenge(dispatcher, variant, contest, times, arguments)


def call(dispatcher: Dispatcher, variant: Variant, arguments: tuple[Any, ...]) -> Any:
    """A call of one of the two forms."""
    contest, run = variant.contest, variant.call
    if contest is None or run is None:  # another thread has ended it meanwhile
        return dispatcher.program.original(*arguments)
    size = size_class(arguments)
    if (times := contest.times.get(size)) is None:
        times = contest.times[size] = Times(sizes=dispatcher.sizes_of(arguments))
    if contest.turn_of_other and contest.other is not None and times.variant and _is_ready(contest.other):
        if alternatives.accepts(dispatcher, variant, contest.other, dispatcher.values_of(arguments)):
            return _turn_of_other(dispatcher, variant, contest.other, times, arguments)
        contest.turn_of_other, contest.misses = False, contest.misses + 1
    watch = Stopwatch()
    try:
        result = run(*arguments)
    except Exception as failure:
        return dispatcher.failed(variant, failure, *arguments)
    times.variant.append(watch.seconds())
    if len(contest.times) > MAX_SIZES or contest.misses > MAX_MISSES or min(times.variant) > TOO_LONG:
        _end(dispatcher, variant)
    elif sum(times.variant) > EARNED:
        _challenge(dispatcher, variant, contest, times, arguments)
    return result


def _is_ready(other: Variant) -> bool:
    """Whether the other form is compiled as well as it will be."""
    return other.code is None or not (other.code.growing or other.code.is_preliminary())


def failed(dispatcher: Dispatcher, other: Variant) -> None:
    """The other form does not hold for all arguments: the variant runs from now on."""
    for variant in dispatcher.variants:
        if variant.small is other:
            _leave(dispatcher, variant, other)
            break
    dispatcher.install()


def _challenge(
    dispatcher: Dispatcher, variant: Variant, contest: Contest, times: Times, arguments: tuple[Any, ...]
) -> None:
    """Let the other form have the next call, if it may be faster."""
    values = dispatcher.values_of(arguments)
    if times.expected is None:
        times.expected = _expected(contest, values)
    if times.expected > HOPE * min(times.variant):
        expected, batched = readable_seconds(times.expected), readable_seconds(min(times.variant))
        note = f"a call takes {batched}; as compiled code it is expected to take {expected}"
        dispatcher.records.lifted(dispatcher.program, variant.code, [note], variant.seconds)
        _end(dispatcher, variant)
        return
    if contest.other is None:
        contest.other = alternatives.made(dispatcher, variant, values, contest.make)
    if contest.other is None:
        _end(dispatcher, variant)
    contest.turn_of_other = True


def _expected(contest: Contest, values: dict[str, Any]) -> float:
    """Seconds that a call of the other form should take; none at all is expected of a machine without a compiler."""
    try:
        return contest.expected(values)
    except NotLiftable:
        return float("inf")


def _turn_of_other(
    dispatcher: Dispatcher, variant: Variant, other: Variant, times: Times, arguments: tuple[Any, ...]
) -> Any:
    contest, run = variant.contest, other.call
    assert contest is not None and run is not None
    if not other.verified and dispatcher.verify == "first":
        return _compared(dispatcher, variant, other, arguments)
    contest.turn_of_other = False
    undo: Undo | None = None
    try:
        undo = _undo(dispatcher, other, arguments)
        watch = Stopwatch()
        result = run(*arguments)
    except Exception:
        if undo is not None:
            undo.restore()
        _end(dispatcher, variant)
        return dispatcher.program.original(*arguments)
    other.verified = True
    times.other.append(watch.seconds())
    share = times.share()
    if share is not None and share < GAIN:
        _takes_over(dispatcher, variant, other, times)
    elif share is not None:
        _end(dispatcher, variant)
    return result


def _undo(dispatcher: Dispatcher, other: Variant, arguments: tuple[Any, ...]) -> Undo | None:
    """What a call of the other form may change, and leave changed where it fails."""
    code = other.code
    if code is None or (other.verified and not (code.commits_early or code.random or code.sets)):
        return None
    writes = code.commits_early or not other.verified
    return Undo(dispatcher.program, code, dispatcher.values_of(arguments), writes=writes, draws=code.random)


def _compared(dispatcher: Dispatcher, variant: Variant, other: Variant, arguments: tuple[Any, ...]) -> Any:
    """The first call of the other form, the result of which is held beside that of the variant."""
    run, code, call = variant.call, other.code, other.call
    assert run is not None and code is not None and call is not None
    program, values = dispatcher.program, dispatcher.values_of(arguments)
    names = {"arguments": program.arguments, "outside": program.outside, "namespace": program.namespace}
    stand_in: Any = SimpleNamespace(clocked=lambda *given: run(*given[:-1]), **names)
    outcome = verified_call(stand_in, call, code, values, seconds=float("inf"))
    if outcome.failure is not None or outcome.verdict.agrees is False:
        if outcome.failure is None:
            text = f"compiled code, which does not run, gave another result than batched code: {outcome.verdict.reason}"
            dispatcher.records.note(program, text)
        _end(dispatcher, variant)
        return program.original(*arguments)
    other.verified = True
    return outcome.result


def _takes_over(dispatcher: Dispatcher, variant: Variant, other: Variant, times: Times) -> None:
    """From now on the other form runs for arguments like these, up to twice their size; greater ones are timed anew."""
    if variant.small is not other:
        other.trials, other.is_rival, other.small, variant.small = None, True, variant.small, other
        dispatcher.variants.append(other)
    if not dispatcher.add_small(variant, times.sizes):
        _leave(dispatcher, variant, other)
        _end(dispatcher, variant)
        return
    batched, compiled = readable_seconds(min(times.variant)), readable_seconds(min(times.other))
    expected = f", of which {readable_seconds(times.expected)} were expected" if times.expected else ""
    notes = [f"as batched code, which 'source' shows, a call takes {batched}, as compiled code {compiled}{expected}"]
    dispatcher.records.lifted(dispatcher.program, other.code, notes, variant.seconds)


def _leave(dispatcher: Dispatcher, variant: Variant, other: Variant) -> None:
    """The other form is used no more."""
    variant.small, variant.contest = other.small, None
    dispatcher.variants.remove(other)
    dispatcher.records.lifted(dispatcher.program, variant.code, [], variant.seconds)


def _end(dispatcher: Dispatcher, variant: Variant) -> None:
    """At sizes that were not decided the variant runs."""
    variant.contest = None
    dispatcher.install()
