"""A region that the compiler refused in, another form of it, which must be faster than its pieces, out.

The form runs the whole region, the pieces are what is lifted inside of the loops that stay. They take turns for a few
calls; the loser is not used for arguments of this size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch

from looplift.base.errors import NotLiftable
from looplift.runtime import entry
from looplift.runtime.contents import ATOMS, CONTAINERS
from looplift.runtime.stopwatch import Stopwatch
from looplift.runtime.trials import CLEAR, CLEAR_IN_ONE, UNDISTURBED, UNEVEN, Trial
from looplift.runtime.verification import BUDGET

if TYPE_CHECKING:
    from looplift.runtime.dispatch import Dispatcher, Variant


NEW_TURNS = 32
"""So many turns in which something is compiled do not count."""
COLD_TURNS = 8
"""After so many turns the pieces count as they are."""
HOPELESS_TURNS = 2
"""In so many turns what is lifted of the pieces has run, if loops and lifted pieces take turns; one is enough where it
took very long."""
COMPARED = 2.0
"""So many times longer a turn may take in which pieces are compared with their loops."""


def offer(dispatcher: Dispatcher, variant: Variant, values: dict[str, Any], refusal: NotLiftable) -> None:
    """Let a refused variant run the other form, where there is one and its guards hold."""
    if refusal.other is None or not dispatcher.may_offer or dispatcher.verify != "first":
        return
    conditions = variant.conditions
    try:
        with dispatcher.allowance.spending():
            dispatcher.take(variant, values, refusal.other)
        broken = variant.code is None or entry.broken_guard(dispatcher.program, values, variant.code) is not None
    except Exception:
        broken = True
    if broken:
        variant.call, variant.code, variant.conditions = None, None, conditions
        return
    variant.refusal = refusal
    for child in dispatcher.children:
        child.may_offer = False


UNENDED = 10.0
"""So many times longer than it ran a loop may take that did not end in time, if its share that was done is unknown."""
UNSURE = ("waves", "sequential")
"""What may take longer than the loop."""


def trial_of(variant: Variant, patience: float, *, is_estimate: bool, spent: float = 0.0) -> Trial:
    """The trial of a variant at one size: of another form nothing is known before it ran beside the pieces, and of
    waves and loops that stay, if they were not compared with the loop, only in how many seconds it did not end."""
    loop, code = variant.seconds, variant.code
    unknown = loop is None and code is not None and any(one.decision in UNSURE for one in code.decisions)
    if variant.refusal is not None:
        seen = any(one.cold or one.written for one in (variant.trials or {}).values())
        return Trial(0.0, patience, feared=0.0 if seen else loop or UNENDED * spent, as_written=loop)
    if unknown:
        return Trial(spent, patience, is_estimate and spent > 0)
    if loop is not None and is_estimate and variant.code is not None and variant.code.parts_ways:
        loop = max(BUDGET, loop / UNEVEN)
    return Trial(loop, patience, is_estimate)


def turn_of_pieces(dispatcher: Dispatcher, trial: Trial, arguments: tuple[Any, ...]) -> Any:
    """A call of the pieces; the first ones, which make them and try them out, are not counted, unless they take too
    long even so."""
    pieces, known = None if trial.is_against_loop else _lifted_pieces(dispatcher), _compiled(dispatcher)
    run, other = pieces or dispatcher.program.original, min(trial.batched)
    watch = Stopwatch()
    result = run(*arguments)
    seconds = watch.seconds()
    trial.first_turns += 1
    is_new = _compiled(dispatcher) != known
    seconds /= COMPARED if is_new else 1
    counts = not is_new or seconds > other
    if (trial.is_warm or pieces is None) and (counts or trial.first_turns >= NEW_TURNS):
        trial.written.append(seconds)
        return result
    if counts:
        trial.cold.append(seconds)
    trial.is_warm = trial.first_turns >= COLD_TURNS or _is_settled(dispatcher)
    if not trial.is_warm and _is_hopeless(trial, other):
        trial.is_warm, trial.written = True, [*trial.cold]
    return result


def _lifted_pieces(dispatcher: Dispatcher) -> Callable[..., Any] | None:
    """The statements with what is lifted inside of them; None where nothing is: to come to it would take time only."""
    is_idle = dispatcher.hooked is None and all(child.is_idle for child in dispatcher.children)
    return None if is_idle else dispatcher.fallback


def meets_the_loop(dispatcher: Dispatcher, trial: Trial) -> bool:
    """Whether the loop as written has the next turns: another form that beat the pieces may be slower than that."""
    loop = trial.as_written
    if trial.is_against_loop or loop is None or loop > CLEAR * min(trial.batched) or not _lifted_pieces(dispatcher):
        return False
    trial.written, trial.cold, trial.is_against_loop = [], [], True
    return True


def _is_hopeless(trial: Trial, other: float) -> bool:
    """Whether the pieces, of which some may have run as written, take much longer than the other form."""
    if not trial.cold:
        return False
    slower = min(trial.cold) / other
    at_once = slower > CLEAR_IN_ONE and min(trial.cold) > UNDISTURBED
    return at_once or (len(trial.cold) >= HOPELESS_TURNS and slower > CLEAR)


def _compiled(dispatcher: Dispatcher) -> list[tuple[int, Any]]:
    """What was compiled, refused or has failed for the pieces so far."""
    return [
        (one.attempts, [(variant.code and variant.code.statements, variant.failures) for variant in one.variants])
        for one in _all_of(dispatcher.children)
    ]


def _is_settled(dispatcher: Dispatcher) -> bool:
    """Whether no piece is still tried beside its loop."""
    every = [one for child in _all_of(dispatcher.children) for one in child.variants]
    return all(one.verified and (one.trials is None or one.is_slow) for one in every if one.call is not None)


def withdraw(dispatcher: Dispatcher, variant: Variant) -> None:
    """The other form is not used again: what stays or is lifted inside is as if it had never been."""
    variant.call = variant.code = None
    _restate(dispatcher, variant)
    dispatcher.install()


def step_back(dispatcher: Dispatcher, variant: Variant, sizes: dict[str, Any], *, by_loop: bool = False) -> None:
    """The pieces are used at these sizes of values; the loop as written where nothing of them is lifted, or that was
    faster than the other form."""
    variant.is_slow = True
    if dispatcher.add_small(variant, sizes) and variant.small is not None:
        variant.small.is_divided, variant.trials = not by_loop and _lifted_pieces(dispatcher) is not None, {}
    else:
        variant.call = None
    _restate(dispatcher, variant)


def divide_small(dispatcher: Dispatcher, variant: Variant, refusal: NotLiftable) -> None:
    """Arguments at which the whole region is slower than the loop run its pieces, if it has any."""
    dispatcher.divide(dispatcher.program.span[0])
    if dispatcher.fallback is not None and variant.small is not None:
        variant.small.is_divided, variant.small.refusal = True, refusal


def undivide(dispatcher: Dispatcher) -> bool:
    """Whether small arguments ran pieces of a region, which are no faster either: they run as written from now on."""
    small = [one for one in dispatcher.variants if one.plain and one.is_divided and one.refusal is not None]
    for one in small:
        one.is_divided = False
        dispatcher.records.refused(dispatcher.program, cast("NotLiftable", one.refusal), certain=True)
    return bool(small)


def is_worth_it(variant: Variant) -> bool:
    """Whether calls of the form that just ran shared their work; true of other variants."""
    return variant.refusal is None or variant.code is None or variant.code.shares_work()


def _restate(dispatcher: Dispatcher, variant: Variant) -> None:
    assert variant.refusal is not None
    dispatcher.records.refused(dispatcher.program, variant.refusal, certain=True)
    restate_pieces(dispatcher)


def restate_pieces(dispatcher: Dispatcher) -> None:
    """Have the report say what is lifted of a region that is not lifted as a whole any more."""
    for child in _all_of(dispatcher.children):
        for one in child.variants:
            if one.call is not None and one.code is not None and not one.is_slow:
                child.records.lifted(child.program, one.code, [], one.seconds)


def _all_of(dispatchers: Iterable[Dispatcher]) -> Iterable[Dispatcher]:
    for one in dispatchers:
        yield one
        yield from _all_of(one.children)


def has_no_effects(variant: Variant, arguments: Iterable[Any]) -> bool:
    """Whether a run of the loop that is ended in the middle leaves nothing behind."""
    code = variant.code
    if code is None or code.mutated or code.sets or code.scratch or code.random or not code.repeatable:
        return False
    kinds = (*CONTAINERS, *ATOMS, np.ndarray, torch.Tensor, torch.nn.Parameter, torch.nn.Module)
    quiet = not any("print(" in line for line in code.statements)
    return quiet and all(isinstance(value, kinds) or callable(value) for value in arguments)
