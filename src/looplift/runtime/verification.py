"""A batched call and the loop in; whether the two agree, and the result to hand out, out.

The loop runs first, on copies of what it writes to, with a clock at every iteration that ends it when the time is up;
then the batched statements run on the values themselves. Results, writes, printed text and generators are compared.
"""

from __future__ import annotations

import contextlib
import io
import math
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from looplift.base.compare import difference
from looplift.base.data import dataclass
from looplift.base.errors import RequirementFailed
from looplift.base.paths import roots_of
from looplift.runtime import entry
from looplift.runtime.patience import compiling
from looplift.runtime.snapshot import Attributes, CannotCopy, GeneratorStates, Saved, copied
from looplift.runtime.stopwatch import Stopwatch
from looplift.runtime.variants import Program, RegionCode

BUDGET = 0.05
"""Seconds that the loop may take for the comparison on the first call of a variant."""
LONGEST = 2.0
"""So many times that, where it may have more time and can be foreseen to end in it."""
INTERVAL = 0.001
"""Seconds between two questions whether it has more time."""
LOOK, UNNOTICED = 1e-6, 0.05
"""Seconds that a look at the clock takes at most, and the share of a run that nobody notices."""


class OutOfTime(BaseException):
    """Ends a run of the loop that takes too long; a BaseException, so that no handler in the loop catches it."""


class Raises(Exception):
    """Ends a run of the loop on copies at a ``raise``: to make an exception may have effects, which the loop has once
    more."""


class Clock:
    """Watches over the iterations of loops: ``clock(xs)`` around an iterable, ``clock.holds()`` in a condition.

    Functions that the loop calls may be compiled meanwhile, which does not count. ``may_go_on``: whether it has more
    time, where it is up and the end is near. ``may_raise``: whether what the loop raises is handed on.
    """

    def __init__(self, seconds: float, may_go_on: Callable[[], bool] = bool, *, may_raise: bool = True):
        self.may_go_on, self.longest, self.may_raise = may_go_on, LONGEST * seconds, may_raise
        self.compiled = compiling.seconds
        self.watch, self.start = Stopwatch(), time.perf_counter()
        self.end = self.start + seconds
        self.outermost: tuple[int, int] | None = None  # iterations done, and all, of the loop that was entered first
        self.looks = 0  # how often it was looked at

    def __call__(self, iterable: Iterable[Any]) -> Iterator[Any]:
        first = self.outermost is None
        if first:
            self.outermost = (0, len(iterable) if hasattr(iterable, "__len__") else 0)  # pyright: ignore
        return self._watched(iterable, first)

    def _watched(self, iterable: Iterable[Any], first: bool) -> Iterator[Any]:
        read = time.perf_counter
        for done, item in enumerate(iterable):
            if first and self.outermost is not None:
                self.outermost = (done, self.outermost[1])
            self.looks += 1
            if read() > self.end:
                self.look_again()
            yield item

    def holds(self) -> bool:
        self.looks += 1
        if time.perf_counter() > self.end:
            self.look_again()
        return True

    def raises(self) -> None:
        if not self.may_raise:
            raise Raises("an exception of its own")

    def look_again(self) -> None:
        """Move start and end by what was compiled since; raises OutOfTime where that was not why it took so long."""
        spent = compiling.seconds - self.compiled
        self.compiled, self.start, self.end = compiling.seconds, self.start + spent, self.end + spent
        if (now := time.perf_counter()) <= self.end:
            return
        if (self.estimate() or math.inf) > self.longest or not self.may_go_on():
            raise OutOfTime
        self.end = now + INTERVAL

    def spent(self) -> float:
        """Seconds so far."""
        passed = time.perf_counter() - self.start - (compiling.seconds - self.compiled)
        return min(passed, self.watch.seconds())

    def estimate(self) -> float | None:
        """Seconds that the whole loop takes, from the share of its iterations that were done."""
        done, all_of_them = self.outermost or (0, 0)
        return self.spent() * all_of_them / done if done and all_of_them else None


class _ThreadText(io.TextIOBase):
    """Standard output that keeps what one thread writes, and passes on what others do."""

    def __init__(self, outside: Any):
        self.outside, self.owner, self.kept = outside, threading.get_ident(), []

    def write(self, text: str, /) -> int:
        if threading.get_ident() == self.owner:
            self.kept.append(text)
            return len(text)
        return self.outside.write(text)

    def flush(self) -> None:
        if threading.get_ident() != self.owner:
            self.outside.flush()

    def writable(self) -> bool:
        return True


@contextlib.contextmanager
def captured_output() -> Iterator[list[str]]:
    """What this thread prints meanwhile, instead of showing it."""
    text = _ThreadText(sys.stdout)
    outside, sys.stdout = sys.stdout, text  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield text.kept
    finally:
        sys.stdout = outside


@dataclass
class LoopRun:
    """What the loop did on copies: result or exception, its writes, its text, the generators after it.

    ``warned``: whether it gave warnings, which nobody has seen.
    """

    result: Any
    error: BaseException | None
    values: dict[str, Any]
    text: list[str]
    states: GeneratorStates
    seconds: float
    warned: bool
    attributes: dict[str, Any]


@dataclass
class Verdict:
    """``agrees``: True, False, or None if nothing was compared; then ``reason`` says why."""

    agrees: bool | None
    reason: str = ""
    seconds: float | None = None
    """Of the loop, estimated where it did not end in time."""
    spent: float = 0.0
    """Seconds in which it did not end."""


def _beside(program: Program, code: RegionCode, values: Mapping[str, Any]) -> list[Any]:
    """The globals that functions inside of a region read, and the region does not name."""
    names = {root for path in code.paths for root in roots_of(path)} - values.keys()
    return [program.namespace[name] for name in names & program.namespace.keys()]


Ran = tuple[LoopRun | None, Verdict]
"""What the loop did on copies; None with the reason where that was not possible."""


def run_loop(
    program: Program,
    code: RegionCode,
    values: Mapping[str, Any],
    seconds: float,
    may_go_on: Callable[[], bool] = bool,
) -> Ran:
    """Run the loop on copies; generators are put back."""
    if not code.repeatable:
        return None, Verdict(None, "not verified: the loop has effects that must not happen twice")
    read = entry.reader(program, values)
    before, attributes = _states(code, values, read), Attributes(code.sets, read)
    try:
        copies = copied(values, [*code.mutated, *code.scratch], _beside(program, code, values))
    except CannotCopy as why:
        return None, Verdict(None, f"not verified: {why}")
    if any(copies[name] is not values[name] for name in program.outside if name in values):
        return None, Verdict(None, "not verified: it writes to a global")
    arguments = [copies[name] for name in program.arguments]
    clocked = program.clocked
    result, error, clock = None, None, Clock(seconds, may_go_on, may_raise=False)
    with captured_output() as text, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = clocked(*arguments, clock)
        except OutOfTime:
            before.restore()
            limit = f"{seconds * 1e3:.0f} ms"
            why = f"not verified: the loop takes longer than {limit}"
            return None, Verdict(None, why, clock.estimate(), clock.spent())
        except KeyboardInterrupt:
            raise
        except BaseException as raised:  # sys.exit, or what the user derived from none of Python's errors
            error = raised
        finally:
            found = attributes.values()
            attributes.restore()
    spent = clock.spent()
    run = LoopRun(result, error, copies, text, _states(code, values, read), spent, bool(warned), found)
    before.restore()
    return run, Verdict(None, seconds=spent)


def ended_in(program: Program, arguments: Iterable[Any], seconds: float) -> tuple[Any, float | None] | None:
    """What the loop gives, if it takes no longer, and its seconds, unless the clock added to these.

    It must have no effects. What it raises is raised.
    """
    clock = Clock(seconds)
    try:
        result = program.clocked(*arguments, clock)
    except OutOfTime:
        return None
    spent = clock.spent()
    return result, spent if clock.looks * LOOK < UNNOTICED * spent else None


def compare(
    run: LoopRun,
    result: Any,
    text: list[str],
    code: RegionCode,
    values: Mapping[str, Any],
    undo: Undo,
    *,
    magnitude: float = 1.0,
) -> Verdict:
    """Whether the batched statements did what the loop did."""
    if run.error is not None:
        return Verdict(False, f"the loop raises {type(run.error).__name__}: {run.error}", run.seconds)
    got = {"result": result} | {path: values[path] for path in code.mutated} | undo.attributes.values()
    want = {"result": run.result} | {path: run.values[path] for path in code.mutated} | run.attributes
    narrow = {f"values[{key!r:.40}]": dtype for key, dtype in code.rounded_to.items()}
    why = difference(got, want, magnitude=magnitude, path="values", narrow=narrow)
    if not why and "".join(text) != "".join(run.text):
        why = "the printed text differs"
    if not why and undo.states is not None and not undo.states.now().same(run.states):
        why = "a random generator was left in another state"
    return Verdict(not why, why or "", run.seconds)


@dataclass
class Outcome:
    """Of a verified call: the result, unless the batched statements failed or disagree and everything was put back.

    ``aside``: seconds of this thread that were spent on copies and on comparing.
    """

    verdict: Verdict
    result: Any = None
    failure: Exception | None = None
    aside: float = 0.0


def _states(code: RegionCode, values: Mapping[str, Any], read: Callable[[str], Any]) -> GeneratorStates:
    return GeneratorStates([*values.values(), *map(read, code.generators)])


class Undo:
    """What a call may change, as it is now: attributes, and if they are asked for, what is written to and generators.

    Raises RequirementFailed where batched code may fail after it wrote to what cannot be put back.
    """

    def __init__(self, program: Program, code: RegionCode, values: Mapping[str, Any], *, writes: bool, draws: bool):
        paths = code.mutated if writes else ()
        read = entry.reader(program, values) if paths or code.sets or code.generators else values.__getitem__
        self.attributes = Attributes(code.sets, read)
        self.states = _states(code, values, read) if draws else None
        try:
            self.saved = Saved(map(read, paths), whole=code.commits_early)
        except CannotCopy as why:
            raise RequirementFailed(f"what the loop writes could not be undone: {why}") from None

    def restore(self) -> None:
        self.attributes.restore()
        self.saved.restore()
        if self.states is not None:
            self.states.restore()


def verified_call(
    program: Program,
    call: Callable[..., Any],
    code: RegionCode,
    values: Mapping[str, Any],
    *,
    seconds: float = BUDGET,
    ran: Ran | None = None,
) -> Outcome:
    """Run loop and batched statements, and compare. Where they disagree, or the latter fail, nothing has changed.

    ``ran``: what the loop did, if it ran already.
    """
    entered = time.thread_time()
    run, verdict = ran or run_loop(program, code, values, seconds)
    arguments = [values[name] for name in program.arguments]
    try:
        undo = Undo(program, code, values, writes=True, draws=True)
    except RequirementFailed as failure:
        return Outcome(verdict, failure=failure)
    start = time.thread_time()
    with captured_output() as text:
        try:
            result = call(*arguments)
        except Exception as failure:
            undo.restore()
            return Outcome(verdict, failure=failure)
        except BaseException:
            undo.restore()
            raise
    took = time.thread_time() - start + (0.0 if ran else verdict.spent or verdict.seconds or 0.0)
    if run is not None:
        magnitude = _magnitude(values.values())
        verdict = compare(run, result, text, code, values, undo, magnitude=magnitude)
    if verdict.agrees is False:
        undo.restore()
        return Outcome(verdict)
    if text:
        sys.stdout.write("".join(text))
    return Outcome(verdict, result, aside=max(time.thread_time() - entered - took, 0.0))


def _magnitude(values: Iterable[Any]) -> float:
    """The size of the numbers that the loop computes with: the largest in its tensors and arrays, at least 1."""
    import numpy as np
    import torch

    largest = 1.0
    for value in values:
        if isinstance(value, torch.Tensor) and value.is_floating_point() and 0 < value.numel() <= 1_000_000:
            largest = max(largest, _finite(float(value.detach().abs().max())))
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
            largest = max(largest, _finite(float(np.abs(value).max())))
        elif isinstance(value, float):
            largest = max(largest, _finite(abs(value)))
    return largest


def _finite(number: float) -> float:
    return number if number < 1e30 else 1.0
