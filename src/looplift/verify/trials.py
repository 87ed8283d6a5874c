"""Two callables and example arguments in, whether anything tells them apart out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from looplift.runtime.awaited import all_compiled
from looplift.verify.limit import within
from looplift.verify.observe import Observation, copied, first_difference, observe, parts_of
from looplift.verify.variants import Variant, variants_of

MOST_FINDINGS = 5
SHORTEST_LIMIT = 5.0


@dataclass(frozen=True)
class Finding:
    """One trial in which the two differ: the arguments of the call, and the number of the example they come from."""

    example: int
    variant: str
    why: str
    arguments: tuple[Any, ...] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.variant} (example {self.example}): {self.why}"


@dataclass
class CheckResult:
    """What ``check`` found; true if nothing tells the two apart."""

    first: str
    second: str
    findings: list[Finding] = field(default_factory=list)
    trials: int = 0
    raised: int = 0
    unsteady: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    seconds: float = 0.0
    longest: float = 0.0

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        return "\n".join(_lines_of(self))


def check(f: Callable, g: Callable, *examples: Any, seconds: float = 20.0) -> CheckResult:
    """Try hard to tell ``g`` from ``f``: values, dtypes, gradients, mutation, text, random state, exceptions.

    Each example is a tuple of arguments (anything else is taken for the only argument). Both functions get copies of
    it as it is and in many other forms: other values, extents 0, 1, 2 and more, strided and overlapping memory, other
    dtypes and modes. The examples as given are always tried, other forms for about ``seconds``.
    """
    if not examples:
        raise ValueError("check needs at least one example: a tuple of arguments, as in check(f, g, (x, y))")
    result = CheckResult(_name(f), _name(g))
    start = time.perf_counter()
    tuples = [example if isinstance(example, tuple) else (example,) for example in examples]
    for turn, example, variant in _in_turn(tuples):
        if len(result.findings) >= MOST_FINDINGS:
            break
        if turn and time.perf_counter() - start > seconds:
            result.skipped.append(f"{variant.name} (example {example}): out of time")
            continue
        _try(f, g, example, variant, result)
    result.seconds = time.perf_counter() - start
    return result


def _in_turn(examples: list[tuple[Any, ...]]):
    """The first variant of each example, then the second of each, and so on: (turn, number of the example, variant)."""
    streams = [(number, variants_of(copied(example))) for number, example in enumerate(examples)]
    turn = 0
    while streams:
        for stream in list(streams):
            number, variants = stream
            variant = next(variants, None)
            if variant is None:
                streams.remove(stream)
            else:
                yield turn, number, variant
        turn += 1


def _try(f: Callable, g: Callable, example: int, variant: Variant, result: CheckResult) -> None:
    def run(function: Callable) -> Observation | None:
        # warnings are not compared: those of looplift itself say what the comparison finds anyway
        with warnings.catch_warnings(), variant.mode(), all_compiled():
            warnings.simplefilter("ignore")
            return within(limit, lambda: observe(function, variant.arguments, backward=variant.backward))

    limit = SHORTEST_LIMIT + 3 * result.longest
    magnitude = _magnitude(variant.arguments)
    start = time.perf_counter()
    want = run(f)
    if want is None:
        result.skipped.append(f"{variant.name} (example {example}): {result.first} takes more than {limit:.0f} s")
        return
    result.longest = max(result.longest, time.perf_counter() - start)
    got = run(g)
    result.trials += 1
    result.raised += want.error is not None
    why = first_difference(got, want, magnitude=magnitude) if got else f"no answer in {limit:.0f} s"
    if why is None:
        return
    again = run(f)
    if again is None or first_difference(again, want, magnitude=magnitude) is not None:
        result.unsteady.append(f"{variant.name} (example {example})")
        return
    result.findings.append(Finding(example, variant.name, why, variant.arguments))


def _magnitude(arguments: tuple[Any, ...]) -> float:
    """The largest finite number among the arguments, at least 1."""
    largest = 1.0
    for part in parts_of(arguments):
        if isinstance(part, (torch.Tensor, np.ndarray, np.generic, float)):
            numbers = (
                part.detach() if isinstance(part, torch.Tensor) else torch.from_numpy(np.atleast_1d(_numeric(part)))
            )
            numbers = numbers.to_dense() if numbers.layout != torch.strided else numbers
            if numbers.numel() and (numbers.is_floating_point() or numbers.is_complex()):
                largest = max(largest, float(numbers.abs().double().nan_to_num(posinf=0.0).max()))
    return largest


def _numeric(part: Any) -> np.ndarray:
    array = np.array(part)
    return array.astype(array.dtype.newbyteorder("=")) if array.dtype.kind in "biufc" else np.zeros(1)


def _name(function: Callable) -> str:
    return getattr(function, "__qualname__", None) or type(function).__name__


def _lines_of(result: CheckResult):
    what = f"{result.second} against {result.first}" if result.first != result.second else result.first
    trials = f"{result.trials} trial{'s' * (result.trials != 1)} in {result.seconds:.1f} s"
    if result.findings:
        yield f"{what}: different, found in {trials}"
        for finding in result.findings:
            yield f"  {finding}"
    else:
        yield f"{what}: nothing tells them apart in {trials}"
    if result.raised:
        yield f"  {result.raised} of them raise; the exception is compared"
    for name in result.unsteady:
        yield f"  {name}: {result.first} does not agree with itself, not compared"
    if result.skipped:
        yield f"  {len(result.skipped)} more not tried or given up, out of time"
